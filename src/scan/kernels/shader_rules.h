#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "scan/facts/kernel_kind.h"

namespace fathom {

// How a kernel is written: `mark … void NAME(…) {`, `mark … fn NAME(…) {`, or `void main() {`.
enum class ShaderForm : uint8_t { kFunction, kFn, kEntry };

// A language of GPU programs beside C++ and Python (data/kernels/shader_languages.tsv).
struct ShaderRule {
  KernelKind kind = KernelKind::kOpenCl;
  std::vector<std::string_view> endings, marks, always, threads, in_text;
  ShaderForm form = ShaderForm::kFunction;
};
std::span<const ShaderRule> shader_rules();
// By a file's ending; null: it is in no such language.
const ShaderRule* shader_rule_of(std::string_view path);
// By what a string holds; null: no such program.
const ShaderRule* shader_rule_in(std::string_view text);

// Compiled GPU code, by a file's ending (data/kernels/prebuilt.tsv).
struct PrebuiltRule {
  std::string_view ending, one, several;
  bool only_binary = false;
};
std::span<const PrebuiltRule> prebuilt_rules();
const PrebuiltRule* prebuilt_rule_of(std::string_view path);

}  // namespace fathom
