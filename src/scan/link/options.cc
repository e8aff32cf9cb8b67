#include "scan/link/options.h"

#include <algorithm>
#include <tuple>

namespace fathom {
namespace {

constexpr int kMaxDefaultHops = 8;

struct ResolvedDefault {
  std::string text;
  std::string from;  // "EngineConfig.page_size at python/…/config.py:23"; empty: it stands there
  Certainty certainty = Certainty::kCertain;
};

bool is_name(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '.'; }) &&
         !std::isdigit(static_cast<unsigned char>(text[0])) && text[0] != '.';
}

bool is_literal_name(std::string_view text) {
  return text == "None" || text == "True" || text == "False";
}

class OptionLinker {
 public:
  OptionLinker(const Readings& readings, const PythonNames& names)
      : readings_(readings), names_(names) {}

  std::vector<OptionFacts> run() {
    for (uint32_t file = 0; file < readings_.files.size(); ++file) {
      for (const python::Option& option : readings_.readings[file].python.options)
        add(option, file);
    }
    std::sort(out_.begin(), out_.end(), [](const OptionFacts& a, const OptionFacts& b) {
      return std::tie(a.at, a.kind, a.name) < std::tie(b.at, b.kind, b.name);
    });
    return std::move(out_);
  }

 private:
  void add(const python::Option& option, uint32_t file) {
    OptionFacts facts;
    facts.kind = kind_of(option.source);
    facts.name = option.names.empty() ? option.dest : option.names.front();
    facts.other_names.assign(option.names.begin() + (option.names.empty() ? 0 : 1),
                             option.names.end());
    facts.type = option.type;
    facts.help = option.help;
    facts.choices = option.choices;
    facts.at = {file, option.line};
    facts.certainty =
        facts.name.find('{') == std::string::npos ? Certainty::kCertain : Certainty::kLikely;
    if (const auto text = written_default(option)) {
      const ResolvedDefault resolved = resolve(*text, file, 0);
      facts.default_value = resolved.text;
      facts.default_from = resolved.from;
      facts.certainty = std::max(facts.certainty, resolved.certainty);
    }
    out_.push_back(std::move(facts));
  }

  static OptionKind kind_of(python::OptionSource source) {
    switch (source) {
      case python::OptionSource::kEnvironment:
        return OptionKind::kEnvironment;
      case python::OptionSource::kDataclass:
        return OptionKind::kConfig;
      default:
        return OptionKind::kCli;
    }
  }

  // argparse gives a switch the opposite of what it stores.
  static std::optional<std::string> written_default(const python::Option& option) {
    if (option.default_value) return option.default_value;
    if (option.action == "store_true") return "False";
    if (option.action == "store_false") return "True";
    return std::nullopt;
  }

  ResolvedDefault resolve(const std::string& text, uint32_t file, int depth) const {
    if (depth > kMaxDefaultHops || !is_name(text) || is_literal_name(text)) return {text, "", {}};
    if (const size_t dot = text.rfind('.'); dot != std::string::npos) {
      if (auto found = class_field(text.substr(0, dot), text.substr(dot + 1), file, depth))
        return *found;
    }
    if (const auto found = names_.resolve(text, file);
        found && found->kind == PythonName::Kind::kConstant) {
      const auto& constant = readings_.readings[found->file].python.constants[found->index];
      ResolvedDefault deeper = resolve(constant.value, found->file, depth + 1);
      if (deeper.from.empty()) deeper.from = text + " at " + place(found->file, constant.line);
      return deeper;
    }
    return {text, "", Certainty::kUnsure};
  }

  std::optional<ResolvedDefault> class_field(std::string_view owner, std::string_view field,
                                             uint32_t file, int depth) const {
    const auto found = names_.resolve(owner, file);
    if (!found || found->kind != PythonName::Kind::kClass) return std::nullopt;
    const python::Class& type = readings_.readings[found->file].python.classes[found->index];
    const auto at = names_.find_field(found->file, type, field);
    if (!at || !at->field->default_value) return std::nullopt;
    ResolvedDefault deeper = resolve(*at->field->default_value, at->file, depth + 1);
    if (deeper.from.empty()) {
      deeper.from =
          at->owner->name + "." + std::string(field) + " at " + place(at->file, at->field->line);
    }
    return deeper;
  }

  std::string place(uint32_t file, uint32_t line) const {
    return readings_.files[file].path + ":" + std::to_string(line);
  }

  const Readings& readings_;
  const PythonNames& names_;
  std::vector<OptionFacts> out_;
};

}  // namespace

std::vector<OptionFacts> link_options(const Readings& readings, const PythonNames& names) {
  return OptionLinker(readings, names).run();
}

}  // namespace fathom
