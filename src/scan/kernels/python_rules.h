#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "scan/facts/kernel_kind.h"

namespace fathom {

// Whose statements a kernel's body is read as.
enum class KernelVoice : uint8_t { kNone, kTriton, kCute };

// How kernels of a language are launched.
enum class LaunchForm : uint8_t { kSubscript, kChain, kCall, kApi, kMade };

// A decorator that makes a function a kernel (data/kernels/python_decorators.tsv).
struct DecoratorRule {
  KernelKind kind = KernelKind::kTriton;
  std::string_view path, spelled;
  KernelVoice told_as = KernelVoice::kNone;
  LaunchForm launch = LaunchForm::kSubscript;
  bool marks_helpers = false;
  std::vector<std::string_view> needs;  // paths of calls, one of which the body has
  std::string_view not_with;            // "device=True"
};

// Which argument of a call something is; neither: it is none.
struct ArgumentPlace {
  std::optional<size_t> position;
  std::string_view keyword;
};

enum class KernelCallKind : uint8_t { kLaunch, kMake, kNamed };

// A call that launches or makes kernels (data/kernels/python_calls.tsv).
struct KernelCallRule {
  std::string_view path, spelled;
  KernelCallKind does = KernelCallKind::kLaunch;
  std::optional<KernelKind> kind;  // of what it makes
  ArgumentPlace kernel, grid, block, stream, arguments;
};

std::span<const DecoratorRule> decorator_rules();
std::span<const KernelCallRule> kernel_call_rules();

// How well a name of the code fits a rule.
enum class RuleFit : uint8_t {
  kNone,
  kExact,   // imported from where the rule says
  kHanded,  // the rule's path behind another module, which may hand it on or be another thing
  kSpelled  // only written like it
};
// `path` is what imports make of `written`; they are equal where no import binds the first name.
RuleFit fit_of(std::string_view rule_path, std::string_view rule_spelled, std::string_view path,
               std::string_view written);

}  // namespace fathom
