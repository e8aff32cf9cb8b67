#include "scan/kernels/shader_rules.h"

#include <algorithm>

#include "base/check.h"
#include "base/tsv.h"
#include "scan/facts/code_names.h"

extern const std::string_view shader_languages_tsv;
extern const std::string_view prebuilt_tsv;

namespace fathom {

namespace {

ShaderForm form_of(std::string_view text) {
  if (text == "function") return ShaderForm::kFunction;
  if (text == "fn") return ShaderForm::kFn;
  CHECK(text == "entry");
  return ShaderForm::kEntry;
}

// "a/b.tmpl.wgsl" ends in "wgsl".
std::string_view ending_of(std::string_view path) {
  const std::string_view name = file_name(path);
  return holds(name, '.') ? after_last(name, '.') : "";
}

}  // namespace

std::span<const ShaderRule> shader_rules() {
  static const std::vector<ShaderRule> rules = [] {
    std::vector<ShaderRule> out;
    for (const auto& row : read_tsv(shader_languages_tsv, 7)) {
      ShaderRule& rule = out.emplace_back();
      const std::optional<KernelKind> kind = kernel_kind_of(row[0]);
      CHECK(kind.has_value());
      rule.kind = *kind;
      rule.endings = split(row[1], ' ');
      rule.marks = split(row[2], ' ');
      rule.form = form_of(row[3]);
      rule.always = split(row[4], ' ');
      rule.threads = split(row[5], ' ');
      rule.in_text = split(row[6], ' ');
    }
    return out;
  }();
  return rules;
}

const ShaderRule* shader_rule_of(std::string_view path) {
  const std::string_view ending = ending_of(path);
  for (const ShaderRule& rule : shader_rules()) {
    if (contains(rule.endings, ending)) return &rule;
  }
  return nullptr;
}

const ShaderRule* shader_rule_in(std::string_view text) {
  for (const ShaderRule& rule : shader_rules()) {
    const bool all = std::all_of(rule.in_text.begin(), rule.in_text.end(),
                                 [&](auto part) { return holds(text, part); });
    if (all) return &rule;
  }
  return nullptr;
}

std::span<const PrebuiltRule> prebuilt_rules() {
  static const std::vector<PrebuiltRule> rules = [] {
    std::vector<PrebuiltRule> out;
    for (const auto& row : read_tsv(prebuilt_tsv, 3)) {
      const std::vector<std::string_view> words = split(row[2], '/');
      CHECK(words.size() == 2 && (row[1] == "binary" || row[1] == "any"));
      out.push_back({row[0], words[0], words[1], row[1] == "binary"});
    }
    return out;
  }();
  return rules;
}

const PrebuiltRule* prebuilt_rule_of(std::string_view path) {
  const std::string_view ending = ending_of(path);
  const auto rules = prebuilt_rules();
  const auto found = std::ranges::find(rules, ending, &PrebuiltRule::ending);
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace fathom
