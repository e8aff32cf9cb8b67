#include "plan/sweeps.h"

#include <algorithm>

#include "base/tsv.h"
#include "plan/goal_words.h"

extern const std::string_view parameter_names_tsv;

namespace fathom {
namespace {

// A variable that the program's own part of the repository reads.
bool same_part(const PlanDraft& draft, const OptionFacts& option) {
  const std::string& path = draft.facts.files[option.at.file].path;
  for (const std::string_view aside : {"test", "ci/", ".github", "docs/", "docker", "setup.py"}) {
    if (path.find(aside) != std::string::npos) return false;
  }
  return true;
}

bool is_size(const OptionFacts& option) {
  std::string name = option.name;
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  std::ranges::replace(name, '-', '_');
  if (name.ends_with('s') && name.size() > 3) name.pop_back();
  const auto matches = [&](std::string_view known) {
    return known == name || known == name + "s" || known == name + "_size" ||
           (name == "length" && known == "seq_len") || (name == "batche" && known == "batch");
  };
  for (const auto& row : read_tsv(parameter_names_tsv, 2)) {
    for (const std::string_view known : split(row[1], ';')) {
      if (matches(known)) return true;
    }
  }
  return false;
}

// 1, 2, 4 … up to the GPUs at hand, for options that say how many are used.
std::vector<std::string> gpu_counts(const PlanDraft& draft, const OptionFacts& option) {
  const std::string name = squashed(option.name);
  const bool counts = name == "tp" || name == "tpsize" ||
                      name.find("tensorparallel") != std::string::npos || name == "worldsize" ||
                      name == "numgpus" || name == "ngpus";
  if (!counts) return {};
  int64_t most = draft.goal.gpus.value_or(
      std::max<int64_t>(2, static_cast<int64_t>(draft.input.machine->nvidia_gpus.size())));
  std::vector<std::string> out;
  for (int64_t count = 1; count <= most && out.size() < 4; count *= 2)
    out.push_back(std::to_string(count));
  return out;
}

}  // namespace

bool can_set(const PlanDraft& draft, uint32_t option) {
  const OptionFacts& facts = draft.facts.options[option];
  if (facts.kind == OptionKind::kEnvironment) {
    return draft.facts.files[facts.at.file].origin == Origin::kOwn && same_part(draft, facts);
  }
  return std::ranges::find(draft.program.options, option) != draft.program.options.end();
}

bool has_settable(const PlanDraft& draft, const OptionFacts& option) {
  return std::ranges::any_of(draft.program.options, [&](uint32_t other) {
    return draft.facts.options[other].name == option.name;
  });
}

std::vector<Sweep> sweeps_to_run(const PlanDraft& draft) {
  std::vector<Sweep> out;
  const auto add = [&](uint32_t option, const FeatureFacts* feature,
                       std::vector<std::string> wanted) {
    const OptionFacts& facts = draft.facts.options[option];
    const std::vector<std::string> numbers = draft.goal.numbers_of(option);
    if (!can_set(draft, option) || numbers.size() == 1) return;  // one is set, see make_plan
    if (!numbers.empty()) wanted = numbers;
    if (wanted.empty()) wanted = gpu_counts(draft, facts);
    if (values_of(facts, wanted).empty()) return;
    const auto same = [&](const Sweep& one) {
      return squashed(draft.facts.options[one.option].name) == squashed(facts.name);
    };
    if (std::ranges::none_of(out, same)) out.push_back({option, feature, std::move(wanted)});
  };
  for (const auto& [option, value] : draft.goal.option_values) {
    std::vector<std::string> wanted;
    for (const auto& [other, one] : draft.goal.option_values) {
      if (other == option) wanted.push_back(one);
    }
    add(option, nullptr, wanted.size() < 2 ? std::vector<std::string>{} : wanted);
  }
  for (const uint32_t option : draft.goal.options) add(option, nullptr, {});
  // Who names what to vary wants nothing else varied.
  if (!out.empty()) return out;
  for (const uint32_t position : draft.features) {
    const FeatureFacts& feature = draft.facts.features[position];
    size_t of_feature = 0;
    for (const uint32_t option : feature.options) {
      const size_t before = out.size();
      add(option, &feature, {});
      of_feature += out.size() - before;
      if (of_feature == 1) break;  // the one that the scan ranks first
    }
  }
  for (const uint32_t option : draft.program.options) {
    const std::vector<std::string> counts = gpu_counts(draft, draft.facts.options[option]);
    if (draft.goal.gpus && !counts.empty()) add(option, nullptr, counts);
  }
  const bool sizes_matter = draft.goal.asks(Question::kComparison) ||
                            draft.goal.asks(Question::kCharacteristics) || draft.general;
  for (const uint32_t option : draft.program.options) {
    if (sizes_matter && is_size(draft.facts.options[option])) add(option, nullptr, {});
  }
  return out;
}

}  // namespace fathom
