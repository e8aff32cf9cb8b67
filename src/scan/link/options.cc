#include "scan/link/options.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>
#include <unordered_map>

#include "scan/facts/code_names.h"
#include "scan/files/code_purpose.h"
#include "scan/link/default_values.h"
#include "scan/link/option_readers.h"

namespace fathom {
namespace {

bool is_settings_class(const python::Class& type) {
  const bool named = [&] {
    for (const char* ending : {"Config", "Args", "Arguments", "Settings", "Options"}) {
      if (type.name.ends_with(ending)) return true;
    }
    return false;
  }();
  const auto makes_fields = [](const std::string& text) {
    return holds(text, "dataclass") || holds(text, "BaseModel") || holds(text, "BaseSettings") ||
           text == "NamedTuple" || text == "TypedDict" || text.ends_with("config");
  };
  return named && (std::any_of(type.decorators.begin(), type.decorators.end(), makes_fields) ||
                   std::any_of(type.bases.begin(), type.bases.end(), makes_fields));
}

// "--max-batch" → "max_batch": the attribute that holds it.
std::string destination_of(const python::Option& option) {
  if (!option.dest.empty()) return option.dest;
  if (option.names.empty()) return "";
  std::string name = option.names.front().substr(
      std::min(option.names.front().find_first_not_of('-'), option.names.front().size()));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// What giving the option does, where its name does not say it: --disable-cache of store_false.
std::string effect_of(const python::Option& option) {
  const std::string value = destination_of(option);
  if (value.empty() || option.names.empty()) return "";
  const std::string initial =
      option.default_value ? "; " + value + " is " + *option.default_value + " without it" : "";
  if (option.action == "store_false") return "sets " + value + " to False" + initial;
  if (option.action.ends_with("BooleanOptionalAction")) {
    return option.names.front() + " sets " + value + " to True, --no-" +
           option.names.front().substr(2) + " to False";
  }
  const bool own = std::any_of(option.names.begin(), option.names.end(), [&](std::string name) {
    name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
    std::replace(name.begin(), name.end(), '-', '_');
    return name == value;
  });
  return option.action == "store_true" && !own ? "sets " + value + " to True" + initial : "";
}

class OptionLinker {
 public:
  OptionLinker(const Readings& readings, const PythonNames& names)
      : readings_(readings), names_(names), defaults_(readings, names), readers_(readings, names) {}

  std::vector<OptionFacts> run() {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      if (readings_.readings[file].python.globals_set)
        sets_globals_.insert(readings_.files[file].path);
    }
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      if (readings_.files[file].origin != Origin::kOwn) continue;
      const FileReading& reading = readings_.readings[file];
      for (const python::Option& option : reading.python.options) add(option, file);
      for (const python::ParsedClass& parsed : reading.python.parsed_classes)
        add_class(parsed, file);
      for (const python::Class& type : reading.python.classes) add_settings(type, file);
      for (const cpp::Option& option : reading.cpp_options) add(option, file);
    }
    add_helper_calls();
    std::sort(out_.begin(), out_.end(), [](const OptionFacts& a, const OptionFacts& b) {
      return std::tie(a.at, a.kind, a.name) < std::tie(b.at, b.kind, b.name);
    });
    const auto same = [](const OptionFacts& a, const OptionFacts& b) {
      return std::tie(a.at, a.kind, a.name) == std::tie(b.at, b.kind, b.name);
    };
    out_.erase(std::unique(out_.begin(), out_.end(), same), out_.end());
    join_readings();
    return std::move(out_);
  }

 private:
  // An environment variable is one, however many places read it: the first reading of the product's
  // own code stands for it.
  void join_readings() {
    const auto aside = [&](const OptionFacts& option) {
      return is_test_or_example(readings_.files[option.at.file].path);
    };
    std::unordered_map<std::string, size_t> first;
    for (size_t i = 0; i < out_.size(); ++i) {
      if (out_[i].kind != OptionKind::kEnvironment) continue;
      const auto [found, is_new] = first.emplace(out_[i].name, i);
      if (!is_new && aside(out_[found->second]) && !aside(out_[i])) found->second = i;
    }
    std::vector<bool> joined(out_.size(), false);
    for (size_t i = 0; i < out_.size(); ++i) {
      if (out_[i].kind != OptionKind::kEnvironment) continue;
      OptionFacts& one = out_[first.find(out_[i].name)->second];
      one.read_at.push_back(out_[i].at);
      if (&one == &out_[i]) continue;
      joined[i] = true;
      one.certainty = std::min(one.certainty, out_[i].certainty);
      if (one.help.empty()) one.help = out_[i].help;
      if (!one.default_value) {
        one.default_value = out_[i].default_value;
        one.default_from = out_[i].default_from;
      } else if (out_[i].default_value && *out_[i].default_value != *one.default_value &&
                 !contains(one.other_defaults, *out_[i].default_value)) {
        one.other_defaults.push_back(*out_[i].default_value);
      }
    }
    size_t i = 0;
    std::erase_if(out_, [&](const OptionFacts&) { return joined[i++]; });
  }

  void add(const python::Option& option, uint32_t file) {
    if (option.written) return;  // it is set here, and read elsewhere
    const bool is_global = option.source == python::OptionSource::kGlobals;
    if (is_global && !option.via.empty() && !is_set_by(option.via, file)) return;
    if (add_fields(option, file)) return;
    OptionFacts facts;
    facts.kind = kind_of(option.source);
    facts.name = option.names.empty() ? option.dest : option.names.front();
    if (option.names.size() > 1)
      facts.other_names.assign(option.names.begin() + 1, option.names.end());
    facts.type = option.type;
    facts.help = option.help;
    facts.choices = option.choices;
    facts.at = {file, option.line};
    facts.joined = is_global;
    const bool composed = holds(facts.name, '{');
    facts.certainty = composed || !option.certain ? Certainty::kLikely : Certainty::kCertain;
    if (option.default_value) {
      set_default(facts, defaults_.resolve(*option.default_value, file));
    } else if (!option.from_class.empty()) {
      from_field(option, file, facts);
    }
    facts.effect = effect_of(option);
    note_readers(facts, destination_of(option));
    if (!option.certain) guesses_.insert(facts.at);
    out_.push_back(std::move(facts));
  }

  // Whether the file that a script executes, by its path from the script or from the repository,
  // sets the script's variables.
  bool is_set_by(const std::string& executed, uint32_t script) const {
    const std::string& path = readings_.files[script].path;
    return sets_globals_.contains(path.substr(0, path.rfind('/') + 1) + executed) ||
           sets_globals_.contains(executed);
  }

  static OptionKind kind_of(python::OptionSource source) {
    return source == python::OptionSource::kEnvironment ? OptionKind::kEnvironment
                                                        : OptionKind::kCli;
  }

  static void set_default(OptionFacts& facts, const ResolvedDefault& resolved) {
    facts.default_value = resolved.text;
    facts.default_from = resolved.from;
    facts.certainty = std::max(facts.certainty, resolved.certainty);
  }

  // Type, default and help as a class's field says them.
  void from_field(const python::Option& option, uint32_t file, OptionFacts& facts) const {
    const auto field = defaults_.find_field(option.from_class, destination_of(option), file);
    if (!field) return;
    if (facts.type.empty()) facts.type = field->field->type;
    if (facts.help.empty()) facts.help = field->field->help;
    if (field->field->default_value) set_default(facts, defaults_.of_field(*field));
  }

  void add_class(const python::ParsedClass& parsed, uint32_t file) {
    const bool known = for_each_field(
        parsed.name, file, [&](const python::Option& option, uint32_t home) { add(option, home); });
    if (!known) add_parameters(parsed, file);
  }

  // fire.Fire(main), tyro.cli(main): the function's parameters are the options.
  void add_parameters(const python::ParsedClass& parsed, uint32_t file) {
    const auto found = names_.resolve(parsed.name, file);
    if (!found || found->kind != PythonName::Kind::kFunction || parsed.via == "typer.run") return;
    const python::Function& function =
        readings_.readings[found->file].python.functions[found->index];
    for (size_t i = 0; i < function.parameters.size(); ++i) {
      const python::Argument& parameter = function.parameters[i];
      if (parameter.name.starts_with('*') || parameter.name == "/") continue;
      python::Option option;
      option.source = python::OptionSource::kFunction;
      option.dest = parameter.name;
      option.names = {"--" + parameter.name};
      if (i < function.annotations.size()) option.type = function.annotations[i];
      if (!parameter.text.empty()) option.default_value = parameter.text;
      option.via = parsed.via;
      option.line = function.line_name;
      add(option, found->file);
    }
  }

  // A loop over the fields of a class makes an option of each: add_argument(f"--{name}").
  bool add_fields(const python::Option& option, uint32_t file) {
    if (option.from_class.empty() || option.names.empty()) return false;
    const std::string& spelled = option.names.front();
    const size_t open = spelled.find('{'), close = spelled.rfind('}');
    if (open == std::string::npos || close == std::string::npos) return false;
    const bool dashes = spelled.find("replace", open) < close;
    return for_each_field(option.from_class, file, [&](python::Option field, uint32_t home) {
      std::string name = field.dest;
      if (dashes) std::replace(name.begin(), name.end(), '_', '-');
      field.names = {spelled.substr(0, open) + name + spelled.substr(close + 1)};
      add(field, home);
    });
  }

  // The options that a class's fields make, inherited ones too; false: the class is not known.
  template <typename Take>
  bool for_each_field(std::string_view class_name, uint32_t file, Take take) const {
    const auto found = names_.resolve(class_name, file);
    if (!found || found->kind != PythonName::Kind::kClass) return false;
    const python::Class& type = readings_.readings[found->file].python.classes[found->index];
    std::set<std::string> seen;
    for (const auto& [home, base] : names_.with_bases(found->file, type)) {
      for (const python::Option& option : python::options_of_class(*base)) {
        if (seen.insert(option.dest).second) take(option, home);
      }
    }
    return true;
  }

  // A field of a settings class is a key of the configuration, whoever fills it in.
  void add_settings(const python::Class& type, uint32_t file) {
    if (!is_settings_class(type)) return;
    add_environment_fields(type, file);
    for (const python::Field& field : type.fields) {
      OptionFacts facts;
      facts.kind = OptionKind::kConfig;
      facts.name = type.name + "." + field.name;
      facts.type = field.type;
      facts.help = field.help;
      facts.at = {file, field.line};
      if (field.default_value) set_default(facts, defaults_.resolve(*field.default_value, file));
      note_readers(facts, field.name);
      out_.push_back(std::move(facts));
    }
  }

  // pydantic's BaseSettings reads each field from the environment, behind a prefix.
  void add_environment_fields(const python::Class& type, uint32_t file) {
    const bool reads = std::any_of(type.bases.begin(), type.bases.end(), [](const auto& base) {
      return last_part(base) == "BaseSettings";
    });
    if (!reads) return;
    std::string prefix;
    for (const python::Field& field : type.fields) {
      if (field.name != "model_config" || !field.default_value) continue;
      const std::string& text = *field.default_value;
      const size_t at = text.find("env_prefix");
      const size_t open = at == std::string::npos ? at : text.find_first_of("\"'", at + 10);
      const size_t close = open == std::string::npos ? open : text.find(text[open], open + 1);
      if (close != std::string::npos) prefix = text.substr(open + 1, close - open - 1);
    }
    for (const python::Field& field : type.fields) {
      if (field.type.empty() || field.name == "model_config") continue;
      OptionFacts facts;
      facts.kind = OptionKind::kEnvironment;
      facts.name = prefix + field.name;
      std::transform(facts.name.begin(), facts.name.end(), facts.name.begin(),
                     [](unsigned char c) { return std::toupper(c); });
      facts.type = field.type;
      facts.help = field.help;
      facts.at = {file, field.line};
      facts.certainty = Certainty::kLikely;
      if (field.default_value) set_default(facts, defaults_.resolve(*field.default_value, file));
      facts.component = readers_.component_of(file);
      out_.push_back(std::move(facts));
    }
  }

  void add(const cpp::Option& option, uint32_t file) {
    OptionFacts facts;
    const bool wrapper = option.source == cpp::Option::Source::kEnvironmentWrapper;
    const bool environment = wrapper || option.source == cpp::Option::Source::kEnvironment;
    facts.kind = environment                                    ? OptionKind::kEnvironment
                 : option.source == cpp::Option::Source::kField ? OptionKind::kConfig
                                                                : OptionKind::kCli;
    facts.name = option.names.front();
    facts.other_names.assign(option.names.begin() + 1, option.names.end());
    facts.type = option.type;
    facts.help = option.help;
    facts.default_value = option.default_value;
    facts.at = {file, option.line};
    facts.component = readers_.component_of(file);
    const bool by_hand = option.source == cpp::Option::Source::kArgv;
    facts.certainty =
        wrapper || by_hand || !option.certain ? Certainty::kLikely : Certainty::kCertain;
    out_.push_back(std::move(facts));
  }

  // env_bool("NAME", False) where env_bool is another file's function that reads the environment.
  void add_helper_calls() {
    std::unordered_map<std::string_view,
                       std::vector<std::pair<uint32_t, const python::EnvironmentHelper*>>>
        helpers;
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      for (const python::EnvironmentHelper& helper :
           readings_.readings[file].python.environment_helpers) {
        helpers[last_part(helper.function)].emplace_back(file, &helper);
      }
    }
    if (helpers.empty()) return;
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      if (readings_.files[file].origin != Origin::kOwn) continue;
      const python::PythonFile& python = readings_.readings[file].python;
      const auto look_at = [&](const python::Call& call) {
        const auto found = helpers.find(last_part(call.callee));
        if (found == helpers.end()) return;
        for (const auto& [home, helper] : found->second) {
          if (home != file) add_helper_call(call, file, *helper, home);
        }
      };
      for (const python::Call& call : python.module_calls) look_at(call);
      for (const python::Function& function : python.functions) {
        for (const python::Call& call : function.calls) look_at(call);
      }
    }
  }

  void add_helper_call(const python::Call& call, uint32_t file,
                       const python::EnvironmentHelper& helper, uint32_t home) {
    const auto resolved = names_.resolve(call.callee, file);
    if (!resolved || resolved->file != home) return;
    const auto name = argument(call, helper.name_parameter, helper.name_position);
    const auto content = name ? python::string_content(*name) : std::nullopt;
    if (!content) return;
    OptionFacts facts;
    facts.kind = OptionKind::kEnvironment;
    facts.name = helper.name_template;
    if (const size_t at = facts.name.find("{name}"); at != std::string::npos)
      facts.name.replace(at, 6, *content);
    facts.at = {file, call.line_first};
    facts.certainty = Certainty::kLikely;
    // What the helper's name alone made of this call gives way.
    if (guesses_.erase(facts.at) != 0) {
      std::erase_if(out_, [&](const OptionFacts& guess) {
        return guess.at == facts.at && guess.kind == OptionKind::kEnvironment;
      });
    }
    const auto given = argument(call, helper.default_parameter, helper.default_position);
    if (given || helper.default_value) {
      set_default(facts,
                  defaults_.resolve(given ? *given : *helper.default_value, given ? file : home));
    }
    facts.component = readers_.component_of(file);
    out_.push_back(std::move(facts));
  }

  static std::optional<std::string> argument(const python::Call& call, const std::string& name,
                                             std::optional<size_t> position) {
    for (const python::Argument& given : call.arguments) {
      if (!name.empty() && given.name == name) return given.text;
    }
    if (position && *position < call.arguments.size() && call.arguments[*position].name.empty()) {
      return call.arguments[*position].text;
    }
    return std::nullopt;
  }

  void note_readers(OptionFacts& facts, const std::string& attribute) const {
    if (facts.kind == OptionKind::kEnvironment) {
      facts.component = readers_.component_of(facts.at.file);
      return;
    }
    facts.component = readers_.components_using(attribute, facts.at.file);
    facts.read_at = readers_.places_using(attribute, facts.at.file);
    facts.read_by_name = !facts.read_at.empty() && readers_.only_by_name(attribute, facts.at.file);
  }

  const Readings& readings_;
  const PythonNames& names_;
  const DefaultValues defaults_;
  const OptionReaders readers_;
  std::set<CodePlace> guesses_;         // environment variables by the name of an unknown helper
  std::set<std::string> sets_globals_;  // paths of files
  std::vector<OptionFacts> out_;
};

}  // namespace

std::vector<OptionFacts> link_options(const Readings& readings, const PythonNames& names) {
  return OptionLinker(readings, names).run();
}

}  // namespace fathom
