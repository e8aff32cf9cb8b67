#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "story/story_step.h"

namespace fathom {

// What the template parameters of a piece of code are, as far as the launch and the calls on the
// way say: kUsePDL is the launcher's use_pdl, which a configuration sets to false.
class TemplateValues {
 public:
  TemplateValues() = default;
  // Of a kernel, by the template arguments of its launcher; several alternatives count where they
  // agree.
  TemplateValues(std::string_view parameters, const KernelLauncher* launcher);

  // Of a function that is called with these template arguments where `outer` holds.
  void bind(std::string_view parameters, std::string_view arguments, const TemplateValues& outer);

  // What is said of a condition that is one name, or its opposite, where its value is known.
  std::optional<StepRemark> remark_on(std::string_view condition) const;

 private:
  struct Value {
    std::string text;  // what it is: "use_pdl", or "false"
    std::optional<NamedValue> known;
  };
  std::map<std::string, Value, std::less<>> values_;
};

// "kBytes = kSizePerWarp, kUnit = 4": parameters with the arguments given for them, those of the
// same name left out.
std::string bound_text(std::string_view parameters, std::string_view arguments);

}  // namespace fathom
