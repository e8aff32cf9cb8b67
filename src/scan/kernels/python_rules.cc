#include "scan/kernels/python_rules.h"

#include "base/check.h"
#include "base/glob.h"
#include "base/text_parts.h"
#include "base/tsv.h"

extern const std::string_view kernel_decorators_tsv;
extern const std::string_view kernel_calls_tsv;

namespace fathom {

namespace {

KernelVoice voice_of(std::string_view text) {
  CHECK(text.empty() || text == "triton" || text == "cute");
  if (text.empty()) return KernelVoice::kNone;
  return text == "triton" ? KernelVoice::kTriton : KernelVoice::kCute;
}

LaunchForm launch_form_of(std::string_view text) {
  if (text == "subscript") return LaunchForm::kSubscript;
  if (text == "chain") return LaunchForm::kChain;
  if (text == "call") return LaunchForm::kCall;
  if (text == "api") return LaunchForm::kApi;
  CHECK(text == "made");
  return LaunchForm::kMade;
}

KernelKind kind_of_row(std::string_view text) {
  const std::optional<KernelKind> kind = kernel_kind_of(text);
  CHECK(kind.has_value());
  return *kind;
}

// "0 kernel", "- grid"
ArgumentPlace argument_place(std::string_view text) {
  ArgumentPlace out;
  const std::vector<std::string_view> parts = split(text, ' ');
  if (parts.empty()) return out;
  CHECK(parts.size() == 2);
  out.keyword = parts[1];
  out.position = number_in<size_t>(parts[0]);
  CHECK(out.position || parts[0] == "-");
  return out;
}

KernelCallKind call_kind_of(std::string_view text) {
  if (text == "launch") return KernelCallKind::kLaunch;
  if (text == "make") return KernelCallKind::kMake;
  CHECK(text == "named");
  return KernelCallKind::kNamed;
}

}  // namespace

std::span<const DecoratorRule> decorator_rules() {
  static const std::vector<DecoratorRule> rules = [] {
    std::vector<DecoratorRule> out;
    for (const auto& row : read_tsv(kernel_decorators_tsv, 8)) {
      DecoratorRule& rule = out.emplace_back();
      rule.kind = kind_of_row(row[0]);
      rule.path = row[1];
      rule.spelled = row[2];
      rule.told_as = voice_of(row[3]);
      rule.launch = launch_form_of(row[4]);
      rule.marks_helpers = row[5] == "yes";
      rule.needs = split(row[6], ' ');
      rule.not_with = row[7];
    }
    return out;
  }();
  return rules;
}

std::span<const KernelCallRule> kernel_call_rules() {
  static const std::vector<KernelCallRule> rules = [] {
    std::vector<KernelCallRule> out;
    for (const auto& row : read_tsv(kernel_calls_tsv, 9)) {
      KernelCallRule& rule = out.emplace_back();
      rule.path = row[0];
      rule.spelled = row[1];
      rule.does = call_kind_of(row[2]);
      if (rule.does != KernelCallKind::kLaunch) rule.kind = kind_of_row(row[3]);
      rule.kernel = argument_place(row[4]);
      rule.grid = argument_place(row[5]);
      rule.block = argument_place(row[6]);
      rule.stream = argument_place(row[7]);
      rule.arguments = argument_place(row[8]);
    }
    return out;
  }();
  return rules;
}

RuleFit fit_of(std::string_view rule_path, std::string_view rule_spelled, std::string_view path,
               std::string_view written) {
  // Most names end otherwise.
  const std::string_view last = rule_path.substr(rule_path.rfind('.') + 1);
  if (!path.ends_with(last) && !written.ends_with(last)) return RuleFit::kNone;
  if (glob_matches(rule_path, path)) return RuleFit::kExact;
  if (path.size() > rule_path.size() && path.ends_with(rule_path) &&
      path[path.size() - rule_path.size() - 1] == '.')
    return RuleFit::kHanded;
  return !rule_spelled.empty() && written == rule_spelled ? RuleFit::kSpelled : RuleFit::kNone;
}

}  // namespace fathom
