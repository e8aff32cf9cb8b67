#include <algorithm>

#include "scan/cpp/launches.h"
#include "scan/facts/code_names.h"

namespace fathom::cpp {
namespace {

std::optional<size_t> position_of_named(const std::vector<std::string>& names,
                                        std::string_view name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end() || name.empty()) return std::nullopt;
  return static_cast<size_t>(found - names.begin());
}

// What the helper's own launch has, its condition as the parameter that decides.
LaunchHelper::Attribute attribute_of(LaunchAttribute written,
                                     const std::vector<std::string>& parameters) {
  const auto parameter = position_of_named(parameters, written.condition);
  written.condition.clear();
  return {std::move(written), "", parameter};
}

// What a constructor's parameters are, told by their names.
void read_constructor(const Function& constructor, LaunchHelper& helper) {
  const std::vector<std::string> names = parameter_names(constructor.parameters);
  const auto take = [](std::optional<size_t>& into, size_t at) {
    if (!into) into = at;
  };
  for (size_t k = 0; k < names.size(); ++k) {
    const std::string name = small_letters(names[k]);
    const auto about = [&](std::string_view word) { return holds(name, word); };
    if (about("grid")) {
      take(helper.grid, k);
    } else if (about("block") || about("thread") || about("cta")) {
      take(helper.block, k);
    } else if (about("smem") || about("shared")) {
      take(helper.shared_memory, k);
    } else if (about("stream") || about("device")) {
      take(helper.stream, k);
    } else if (about("pdl")) {
      helper.attributes.push_back({{LaunchAttribute::Kind::kPdl}, "", k});
    }
  }
}

class HelperReader {
 public:
  HelperReader(const Code& code, const Definitions& definitions)
      : code_(code), definitions_(definitions) {}

  std::optional<LaunchHelper> read(const FoundLaunch& found) const {
    const Launch& launch = found.launch;
    if (!launch.function || !found.choice.through_parameter()) return std::nullopt;
    const Function& function = definitions_.functions[*launch.function];
    const std::vector<std::string> parameters = parameter_names(function.parameters);
    LaunchHelper helper;
    helper.name = function.name;
    helper.kernel = found.choice.parameter;
    helper.kernel_template = found.choice.template_parameter;
    helper.grid = position_of_named(parameters, launch.grid);
    helper.block = position_of_named(parameters, launch.block);
    helper.shared_memory = position_of_named(parameters, launch.shared_memory);
    helper.stream = position_of_named(parameters, launch.stream);
    helper.grid_text = launch.grid;
    helper.block_text = launch.block;
    helper.shared_memory_text = launch.shared_memory;
    for (const LaunchAttribute& attribute : launch.attributes) {
      helper.attributes.push_back(attribute_of(attribute, parameters));
    }
    const std::string_view owner = last_name(function.scope);
    if (found.choice.class_parameter) {
      helper.name = owner;
      helper.of_class = true;
      helper.kernel_template = found.choice.class_parameter;
      helper.grid = helper.block = helper.shared_memory = helper.stream = std::nullopt;
      helper.attributes.clear();
    } else if (!helper.grid && helper.kernel && is_class(owner)) {
      read_class_of(function, owner, helper);
    }
    return helper.name.empty() ? std::nullopt : std::optional(std::move(helper));
  }

 private:
  bool is_class(std::string_view name) const {
    return std::any_of(definitions_.classes.begin(), definitions_.classes.end(),
                       [&](const Class& one) { return one.name == name; });
  }

  // The configuration comes with the constructor, attributes perhaps with other methods.
  void read_class_of(const Function& method, std::string_view owner, LaunchHelper& helper) const {
    helper.name = owner;
    helper.method = method.name;
    for (const Function& other : definitions_.functions) {
      if (other.scope != method.scope) continue;
      if (other.name == owner) {
        read_constructor(other, helper);
      } else if (other.name != method.name && mentions_pdl(other)) {
        const bool has_condition = !other.parameters.empty();
        helper.attributes.push_back({{LaunchAttribute::Kind::kPdl},
                                     other.name,
                                     has_condition ? std::optional<size_t>(0) : std::nullopt});
      }
    }
  }

  bool mentions_pdl(const Function& function) const {
    for (size_t i = function.body_first; i < function.body_last; ++i) {
      if (code_.is(i, "cudaLaunchAttributeProgrammaticStreamSerialization") ||
          code_.is(i, "CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION")) {
        return true;
      }
    }
    return false;
  }

  const Code& code_;
  const Definitions& definitions_;
};

}  // namespace

std::vector<LaunchHelper> find_launch_helpers(const Code& code, const Definitions& definitions) {
  constexpr size_t kMaxHelpers = 64;  // of one file
  std::vector<LaunchHelper> helpers;
  const HelperReader reader(code, definitions);
  for (const FoundLaunch& found : find_launches(code, definitions, {})) {
    if (helpers.size() == kMaxHelpers) break;
    if (std::optional<LaunchHelper> helper = reader.read(found)) helpers.push_back(*helper);
  }
  return helpers;
}

}  // namespace fathom::cpp
