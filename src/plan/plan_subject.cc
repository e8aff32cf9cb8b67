#include "plan/plan_subject.h"

#include <algorithm>
#include <set>

#include "base/tsv.h"
#include "plan/goal_words.h"
#include "plan/plan_metrics.h"
#include "plan/ranks.h"

extern const std::string_view plan_programs_tsv;

namespace fathom {
namespace {

constexpr size_t kMostFeatures = 6, kMostPlanKernels = 6;

void add_position(std::vector<uint32_t>& list, uint32_t position, size_t most) {
  if (list.size() < most && std::ranges::find(list, position) == list.end())
    list.push_back(position);
}

// A technique of another chip: Blackwell's tensor cores on an H200.
bool runs_on(const PlanDraft& draft, const FeatureFacts& feature) {
  const std::string_view chips = feature_question(feature.id).chips;
  if (chips.empty() || (draft.chip.empty() && !draft.amd)) return true;
  const std::vector<std::string_view> known = split(chips, ' ');
  return std::ranges::find(known, draft.amd ? std::string_view("gfx") : draft.chip) != known.end();
}

// Whether a technique is of the kernels that the goal names: in their files or folders. True where
// it names none.
bool is_near_kernels(const PlanDraft& draft, const FeatureFacts& feature) {
  if (draft.goal.kernels.empty()) return true;
  for (const uint32_t position : draft.goal.kernels) {
    const std::string& path = draft.facts.files[draft.facts.kernels[position].at.file].path;
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    for (const RuleEvidence& evidence : feature.evidence) {
      if (draft.facts.files[evidence.at.file].path.starts_with(folder)) return true;
    }
  }
  return false;
}

}  // namespace

bool is_gpu_feature(const FeatureFacts& feature) {
  for (const MetricFacts& metric : feature.metrics) {
    if (metric.level == "hardware") return true;
  }
  return !feature.kernels.empty();
}

bool has_gpu_packages(const CodeFacts& facts) {
  return std::ranges::any_of(facts.dependencies, [](const DependencyFacts& one) {
    for (const std::string_view name : {"torch", "pytorch", "jax", "cupy", "triton", "cuda-python",
                                        "vllm", "flashinfer", "flashinfer-python", "flash-attn"}) {
      if (one.name == name) return true;
    }
    return false;
  });
}

bool has_gpu_work(const CodeFacts& facts) {
  const bool own = std::ranges::any_of(facts.kernels, [&](const KernelFacts& kernel) {
    return facts.files[kernel.at.file].origin == Origin::kOwn;
  });
  // Without kernels of its own: techniques that run on a GPU, and a package that brings them along.
  return own || (has_gpu_packages(facts) && std::ranges::any_of(facts.features, is_gpu_feature));
}

ProgramKind kind_of_program(const CodeFacts& facts, bool gpu, std::string_view only) {
  ProgramKind kind;
  for (const auto& row : read_tsv(plan_programs_tsv, 5)) {
    const auto has = [&](std::string_view need) {
      if (need == "-") return true;
      if (need == "gpu") return gpu;
      if (need == "kernels") return gpu && !facts.kernels.empty();
      return gpu &&
             (std::ranges::find(facts.components, need, &ComponentFacts::id) !=
                  facts.components.end() ||
              std::ranges::find(facts.features, need, &FeatureFacts::id) != facts.features.end());
    };
    const bool fits = std::ranges::all_of(split(row[1], ' '), [&](std::string_view one_of) {
      return std::ranges::any_of(split(one_of, '|'), has);
    });
    if (!fits || (!only.empty() && row[0] != only)) continue;
    kind.name = row[0];
    kind.features = split(row[2], ' ');
    kind.metrics = split(row[3], ' ');
    kind.phases = split(row[4], ' ');
    return kind;
  }
  return kind;
}

void choose_features(PlanDraft& draft) {
  for (const uint32_t feature : draft.goal.features)
    add_position(draft.features, feature, kMostFeatures);
  // Options stand for the features that they affect.
  for (const uint32_t option : draft.goal.options) {
    for (uint32_t i = 0; i < draft.facts.features.size(); ++i) {
      const FeatureFacts& feature = draft.facts.features[i];
      if (std::ranges::find(feature.options, option) != feature.options.end() &&
          runs_on(draft, feature))
        add_position(draft.features, i, 3);
    }
  }
  // Components stand for the features whose evidence lies in their files.
  for (const std::string& id : draft.goal.components) {
    const auto component = std::ranges::find(draft.facts.components, id, &ComponentFacts::id);
    if (component == draft.facts.components.end()) continue;
    const std::set<uint32_t> files(component->files.begin(), component->files.end());
    for (uint32_t i = 0; i < draft.facts.features.size() && draft.features.size() < 3; ++i) {
      const FeatureFacts& feature = draft.facts.features[i];
      if (!feature.evidence.empty() && files.contains(feature.evidence[0].at.file))
        add_position(draft.features, i, 3);
    }
  }
  // A phase stands for the features that decide how it runs, where the goal names none.
  const bool by_phase = draft.features.empty() && draft.goal.kernels.empty();
  for (const std::string& phase : by_phase ? draft.goal.phases : std::vector<std::string>{}) {
    size_t taken = 0;
    for (const std::string_view id : phase_features(phase)) {
      const auto found = std::ranges::find(draft.facts.features, id, &FeatureFacts::id);
      if (found == draft.facts.features.end() || !runs_on(draft, *found) || taken == 3) continue;
      ++taken;
      add_position(draft.features, static_cast<uint32_t>(found - draft.facts.features.begin()),
                   kMostFeatures);
    }
  }
  const bool named =
      !draft.features.empty() || !draft.goal.kernels.empty() || !draft.goal.phases.empty();
  draft.general = draft.goal.whole_project || draft.goal.all_kernels || !named;
  if (!draft.general) return;
  for (const std::string_view id : draft.kind.features) {
    const auto found = std::ranges::find(draft.facts.features, id, &FeatureFacts::id);
    if (found == draft.facts.features.end()) continue;
    if (!runs_on(draft, *found) || !is_near_kernels(draft, *found)) continue;
    // Metrics that the goal names stand for the features that make them worth tracking.
    const bool tracks_asked = std::ranges::any_of(found->metrics, [&](const MetricFacts& metric) {
      return std::ranges::find(draft.goal.metrics, metric.id) != draft.goal.metrics.end();
    });
    const bool of_metrics = !draft.goal.metrics.empty() && !draft.goal.all_kernels;
    if (of_metrics && !tracks_asked) continue;
    const size_t most = of_metrics ? 3 : kMostFeatures;
    add_position(draft.features, static_cast<uint32_t>(found - draft.facts.features.begin()), most);
  }
}

void choose_kernels(PlanDraft& draft) {
  for (const uint32_t kernel : draft.goal.kernels)
    add_position(draft.kernels, kernel, kMostPlanKernels);
  for (const uint32_t position : draft.features) {
    for (const uint32_t kernel : draft.facts.features[position].kernels) {
      if (!draft.facts.kernels[kernel].dead) add_position(draft.kernels, kernel, kMostPlanKernels);
    }
  }
  const bool all = draft.general || draft.kernels.empty();
  if (!all) return;
  std::vector<uint32_t> launched;
  for (uint32_t i = 0; i < draft.facts.kernels.size(); ++i) {
    const KernelFacts& kernel = draft.facts.kernels[i];
    if (!kernel.dead && !kernel.launchers.empty() &&
        draft.facts.files[kernel.at.file].origin == Origin::kOwn)
      launched.push_back(i);
  }
  rank_kernels(draft.facts, launched, true);
  for (const uint32_t i : launched) add_position(draft.kernels, i, kMostPlanKernels);
}

bool runs_on_host(const PlanDraft& draft) {
  if (draft.goal.host_only) return true;
  const Program& program = draft.program;
  if (!program.entry || !program.file || !draft.goal.kernels.empty() || draft.goal.all_kernels)
    return false;
  for (const std::string& metric : draft.goal.metrics) {
    if (find_plan_metric(metric)->level == Level::kHardware) return false;
  }
  const EntryPoint& entry = draft.facts.entry_points[*program.entry];
  const std::vector<SourceFile>& files = draft.facts.files;
  if (entry.kind != EntryKind::kCppMain || files[*program.file].language != Language::kCpp)
    return false;
  std::set<uint32_t> own(program.sources.begin(), program.sources.end());
  own.insert(*program.file);
  const auto folder_of_file = [&](uint32_t file) {
    return std::string_view(files[file].path).substr(0, files[file].path.rfind('/') + 1);
  };
  // Without a build file: what lies beside it is linked with it.
  const bool by_folder = program.sources.empty();
  const auto belongs = [&](uint32_t file) {
    return own.contains(file) ||
           (by_folder && folder_of_file(file) == folder_of_file(*program.file));
  };
  for (uint32_t i = 0; i < files.size(); ++i) {
    const bool is_gpu = files[i].language == Language::kCuda ||
                        files[i].language == Language::kHip || files[i].language == Language::kMusa;
    if (is_gpu && belongs(i)) return false;
  }
  for (const KernelFacts& kernel : draft.facts.kernels) {
    if (belongs(kernel.at.file)) return false;
    for (const KernelLauncher& launcher : kernel.launchers) {
      if (belongs(launcher.at.file)) return false;
    }
  }
  return std::ranges::none_of(draft.facts.request_paths, [&](const RequestPath& path) {
    return path.kernels_reached > 0 && !path.hops.empty() && path.hops[0].at.file == *program.file;
  });
}

std::vector<uint32_t> files_to_read(const PlanDraft& draft) {
  std::vector<uint32_t> files;
  std::set<uint32_t> seen;
  const auto add = [&](uint32_t file) {
    if (seen.insert(file).second) files.push_back(file);
  };
  for (const EntryPoint& entry : draft.facts.entry_points) {
    const bool runs = entry.kind == EntryKind::kMain || entry.kind == EntryKind::kBenchmark ||
                      entry.kind == EntryKind::kCppMain || entry.kind == EntryKind::kExample;
    if (runs && files.size() < kMaxPlanFiles / 4) add(entry.at.file);
  }
  for (const uint32_t position : draft.features) {
    for (const RuleEvidence& evidence : draft.facts.features[position].evidence)
      add(evidence.at.file);
  }
  for (const RequestPath& path : draft.facts.request_paths) {
    for (const RequestHop& hop : path.hops) {
      if (files.size() < kMaxPlanFiles / 2) add(hop.at.file);
    }
  }
  for (const std::string_view id :
       {"scheduler", "kv_cache", "engine", "training_loop", "sampling", "tokenisation", "server",
        "speculation", "jit", "attention", "communication", "data_loading", "moe", "autotuner"}) {
    const auto found = std::ranges::find(draft.facts.components, id, &ComponentFacts::id);
    if (found == draft.facts.components.end()) continue;
    for (const uint32_t file : found->files) add(file);
  }
  return files;
}

}  // namespace fathom
