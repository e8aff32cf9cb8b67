#include "plan/goal_subjects.h"

#include <algorithm>

#include "plan/plan_metrics.h"
#include "plan/program.h"
#include "plan/ranks.h"

namespace fathom {
namespace {

constexpr size_t kMostKernels = 6;         // named ones that get experiments of their own
constexpr size_t kMostNamedKernels = 200;  // a word that fits more names no kernel

std::string component_title(std::string_view id) {
  for (const ComponentRule& rule : FeatureRules::built_in().components()) {
    if (rule.id == id) return std::string(rule.title);
  }
  return std::string(id);
}

// The key of a configuration without its class or section.
std::string_view own_name(const OptionFacts& option) {
  const std::string_view name = option.name;
  const size_t dot = name.rfind('.');
  return option.kind == OptionKind::kConfig && dot != name.npos ? name.substr(dot + 1) : name;
}

// "sampling" and "sample", "benchmarks" and "benchmark": words of one stem.
std::string stem(std::string word) {
  for (const std::string_view end : {"ing", "ers", "er", "es", "e", "s"}) {
    if (!word.ends_with(end) || word.size() < end.size() + 4) continue;
    word.resize(word.size() - end.size());
    break;
  }
  return word;
}

void add_unique(std::vector<std::string>& list, std::string_view text) {
  if (std::ranges::find(list, text) == list.end()) list.emplace_back(text);
}

}  // namespace

bool GoalSubjects::add_option_numbers(const std::string& wanted,
                                      const std::vector<std::string>& numbers,
                                      const std::string& said, bool is_change) {
  bool found = false;
  for (uint32_t i = 0; i < facts_.options.size() && out_.options.size() < 8; ++i) {
    const OptionFacts& option = facts_.options[i];
    const bool is_key = option.kind == OptionKind::kConfig;
    if (!is_key && (option.kind != OptionKind::kCli || !option.name.starts_with('-'))) continue;
    const std::string own = squashed(own_name(option));
    if (own != wanted && own != wanted + "s" && own != wanted + "size" && own != "num" + wanted &&
        own != "num" + wanted + "s" && own + "size" != wanted)
      continue;
    found = true;
    if (std::ranges::find(out_.options, i) == out_.options.end()) out_.options.push_back(i);
    double number = 0;
    if (is_change && option.default_value && read_number(*option.default_value, number))
      out_.option_numbers.emplace_back(i, *option.default_value);
    for (const std::string& given : numbers) out_.option_numbers.emplace_back(i, given);
    add_subject(
        {SubjectKind::kOption, option.name, option.name, said, code_place_text(facts_, option.at)});
  }
  return found;
}

bool GoalSubjects::add_option(const std::string& token) {
  const std::string wanted = squashed(token);
  if (wanted.size() < 2) return false;
  bool found = false;
  for (uint32_t i = 0; i < facts_.options.size(); ++i) {
    const OptionFacts& option = facts_.options[i];
    if (squashed(own_name(option)) != wanted) continue;
    found = true;
    if (out_.options.size() >= 8) break;
    out_.options.push_back(i);
    add_subject({SubjectKind::kOption, option.name, option.name, token,
                 code_place_text(facts_, option.at)});
  }
  return found;
}

bool GoalSubjects::add_kernels(const std::string& token, bool whole_name) {
  const std::string wanted = squashed(token);
  if (wanted.size() < kShortestName && !whole_name) return false;
  std::vector<uint32_t> exact, inside;
  for (uint32_t i = 0; i < facts_.kernels.size(); ++i) {
    const KernelFacts& kernel = facts_.kernels[i];
    if (kernel.dead) continue;
    const std::string name = squashed(kernel.name);
    const std::string& path = facts_.files[kernel.at.file].path;
    const size_t slash = path.rfind('/');
    const std::string file = squashed(path.substr(slash == std::string::npos ? 0 : slash + 1));
    const bool launched_there = wanted.size() >= kShortestName && whole_name &&
                                std::ranges::any_of(kernel.launchers, [&](const auto& launcher) {
                                  return is_file(launcher.at.file, wanted);
                                });
    if (name == wanted || name == wanted + "kernel") {
      exact.push_back(i);
    } else if (name.find(wanted) != std::string::npos ||
               (wanted.size() >= kShortestName && file.starts_with(wanted)) || launched_there) {
      inside.push_back(i);
    }
  }
  std::vector<uint32_t> found = exact.empty() ? inside : exact;
  rank_kernels(facts_, found, exact.empty());
  if (found.empty() || found.size() > kMostNamedKernels) return false;
  out_.kernels_named += static_cast<uint32_t>(found.size());
  for (const uint32_t i : found) {
    if (out_.kernels.size() >= kMostKernels) break;
    if (std::ranges::find(out_.kernels, i) != out_.kernels.end()) continue;
    out_.kernels.push_back(i);
    const KernelFacts& kernel = facts_.kernels[i];
    add_subject({SubjectKind::kKernel, kernel.name, kernel.name, token,
                 code_place_text(facts_, {kernel.at.file, kernel.line_name})});
  }
  return true;
}

// "flash attention" where kernels lie in flash_attention/.
bool GoalSubjects::add_kernels_of_path(const std::string& words) {
  const std::string wanted = squashed(words);
  if (wanted.size() < kShortestName) return false;
  std::vector<uint32_t> found;
  for (uint32_t i = 0; i < facts_.kernels.size(); ++i) {
    const KernelFacts& kernel = facts_.kernels[i];
    if (!kernel.dead &&
        squashed(facts_.files[kernel.at.file].path).find(wanted) != std::string::npos)
      found.push_back(i);
  }
  rank_kernels(facts_, found, true);
  for (const uint32_t i : found) {
    const KernelFacts& kernel = facts_.kernels[i];
    if (out_.kernels.size() >= kMostKernels ||
        std::ranges::find(out_.kernels, i) != out_.kernels.end())
      continue;
    out_.kernels.push_back(i);
    add_subject({SubjectKind::kKernel, kernel.name, kernel.name, words,
                 code_place_text(facts_, {kernel.at.file, kernel.line_name})});
  }
  out_.kernels_named += static_cast<uint32_t>(found.size());
  return !found.empty();
}

// "v7_specialised" is v7_specialised.cu.
bool GoalSubjects::is_file(uint32_t position, const std::string& wanted, Folded folded) const {
  const std::string& path = facts_.files[position].path;
  const size_t slash = path.rfind('/');
  const std::string name = path.substr(slash == std::string::npos ? 0 : slash + 1);
  const std::string own = squashed(name.substr(0, name.rfind('.')));
  return folded == nullptr ? own == wanted : folded(own) == folded(wanted);
}

bool GoalSubjects::add_entry(const std::string& token) {
  const std::string wanted = squashed(token);
  if (wanted.size() < kShortestName) return false;
  for (uint32_t i = 0; i < facts_.entry_points.size(); ++i) {
    const EntryPoint& entry = facts_.entry_points[i];
    const std::string name = squashed(entry.name);
    const bool file = token.find('.') != std::string::npos && name.ends_with(wanted);
    const bool whole = name.ends_with(wanted + "py") || name == wanted;
    if (!file && !whole && !is_file(entry.at.file, wanted, stem)) continue;
    out_.entry_points.push_back(i);
    add_subject({SubjectKind::kEntryPoint, entry.name, entry.name, token,
                 code_place_text(facts_, entry.at)});
    return true;
  }
  return false;
}

void GoalSubjects::add_targets(const Meaning& meaning, const std::string& words) {
  const size_t before = out_.reading.subjects.size();
  for (const std::string_view target : meaning.targets) {
    const size_t colon = std::min(target.find(':'), target.size());
    const std::string_view id = colon < target.size() ? target.substr(colon + 1) : "";
    // Of several meanings only those that the code has are meant.
    add_target(target.substr(0, colon), id, words, meaning.targets.size() == 1);
  }
  // "the attention kernel" of code that no rule knows: kernels of this name.
  const bool names_code = std::ranges::any_of(meaning.targets, [](std::string_view target) {
    return target.starts_with("area:") || target.starts_with("feature:") ||
           target.starts_with("component:");
  });
  if (!names_code || out_.reading.subjects.size() > before) return;
  std::string name = words;
  for (const std::string_view end : {" kernels", " kernel"}) {
    if (name.ends_with(end)) name.resize(name.size() - end.size());
  }
  if (!add_kernels(name, false)) add_entry(name);
}
void GoalSubjects::add_target(std::string_view kind, std::string_view id, const std::string& words,
                              bool only_meaning) {
  if (kind == "feature") {
    add_feature(id, words, only_meaning);
  } else if (kind == "component") {
    const auto& all = facts_.components;
    const auto found = std::ranges::find(all, id, &ComponentFacts::id);
    if (found != all.end()) {
      add_unique(out_.components, id);
      add_subject({SubjectKind::kComponent, found->id, found->title, words,
                   found->evidence.empty() ? "" : code_place_text(facts_, found->evidence[0].at)});
    } else if (only_meaning) {
      add_unique(out_.absent, component_title(id));
    }
  } else if (kind == "metric") {
    if (const PlanMetric* metric = find_plan_metric(id)) {
      add_unique(out_.metrics, id);
      add_subject({SubjectKind::kMetric, std::string(id), std::string(metric->title), words, ""});
    }
  } else if (kind == "phase") {
    add_unique(out_.phases, id);
    add_subject({SubjectKind::kPhase, std::string(id), std::string(id), words, ""});
  } else if (kind == "area") {
    for (const FeatureFacts& feature : facts_.features) {
      if (feature.area == id) add_feature(feature.id, words, false);
    }
  } else if (kind == "kernels") {
    out_.all_kernels = true;
  } else if (kind == "host") {
    out_.host_only = true;
  }
}
void GoalSubjects::add_feature(std::string_view id, const std::string& words, bool only_meaning) {
  const auto& all = facts_.features;
  const auto found = std::ranges::find(all, id, &FeatureFacts::id);
  if (found == all.end()) {
    if (!only_meaning || add_kernels_of_path(words)) return;
    for (const FeatureRule& rule : FeatureRules::built_in().features()) {
      if (rule.id != id) continue;
      add_unique(out_.absent, rule.title);
      add_unique(out_.absent_features, rule.id);
    }
    return;
  }
  const auto position = static_cast<uint32_t>(found - all.begin());
  if (std::ranges::find(out_.features, position) != out_.features.end()) return;
  out_.features.push_back(position);
  add_subject({SubjectKind::kFeature, found->id, found->title, words,
               found->evidence.empty() ? "" : code_place_text(facts_, found->evidence[0].at)});
}

bool GoalSubjects::add_size_option(std::string word) {
  if (word.ends_with('s') && word.size() > kShortestName) word.pop_back();
  if (word.size() < kShortestName) return false;
  bool found = false;
  for (uint32_t i = 0; i < facts_.options.size() && out_.options.size() < 8; ++i) {
    const OptionFacts& option = facts_.options[i];
    const std::string name = squashed(option.name);
    const bool named = name == word || name == word + "s" || name == word + "size";
    if (option.kind != OptionKind::kCli || !named || values_of(option, {}).empty()) continue;
    found = true;
    if (std::ranges::find(out_.options, i) != out_.options.end()) continue;
    out_.options.push_back(i);
    add_subject(
        {SubjectKind::kOption, option.name, option.name, word, code_place_text(facts_, option.at)});
  }
  return found;
}
bool GoalSubjects::add_option_value(const std::string& token) {
  const std::string wanted = squashed(token);
  if (wanted.size() < 2) return false;
  bool found = false;
  for (uint32_t i = 0; i < facts_.options.size() && out_.option_values.size() < 16; ++i) {
    const OptionFacts& option = facts_.options[i];
    if (option.kind != OptionKind::kCli || option.choices.size() < 2) continue;
    for (const std::string& choice : option.choices) {
      if (squashed(choice) != wanted) continue;
      const std::pair<uint32_t, std::string> value(i, choice);
      if (std::ranges::find(out_.option_values, value) == out_.option_values.end())
        out_.option_values.push_back(value);
      found = true;
    }
  }
  return found;
}

void GoalSubjects::add_subject(GoalSubject subject) {
  auto& all = out_.reading.subjects;
  const auto same = [&](const GoalSubject& other) {
    return other.kind == subject.kind && other.id == subject.id && other.where == subject.where;
  };
  if (std::ranges::none_of(all, same)) all.push_back(std::move(subject));
}

}  // namespace fathom
