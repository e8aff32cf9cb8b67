#pragma once

#include <filesystem>
#include <set>
#include <string>

#include "session/code/ablate.h"
#include "session/code/gpu_state.h"
#include "session/log_pattern.h"
#include "trial/command.h"
#include "trial/journal.h"

namespace fathom::ablate {

// Runs what an ablation has not done yet: trees and builds, checks, timed runs, counters. Each
// finished step is in the journal before the next one begins.
class AblateSteps {
 public:
  AblateSteps(Ablation& ablation, Journal& journal, AblateProgress progress, void* context)
      : a_(ablation), journal_(journal), progress_(progress), context_(context) {}

  Status run();

 private:
  struct Ran {
    TrialEnd end;
    std::string output;  // standard output and error
    double seconds = 0;
    std::string log;  // below the out folder
  };
  struct Slot {
    size_t variant, in_case;
  };

  static constexpr uint64_t kLargestOutput = 256 << 20;  // of a command

  static Error interrupted();
  void tell(const std::string& step) const;
  Result<Ran> run_one(const ReadyCommand& command, const std::string& tree,
                      const std::string& log_name, bool ends_child = false) const;
  StepOf step_of(size_t variant, uint64_t key) const;
  VariantMeasurements& measured(size_t variant);
  std::filesystem::path tree_of(const BuildPlan& build) const;

  Status make_trees();
  Status note_changes();
  std::filesystem::path listing_of(size_t build) const;
  Status build_all();
  Result<Step> build_one(size_t build) const;
  Status check_all();
  Result<Checked> check_one(size_t variant);
  Result<std::string> reference_output();
  Status time_all(bool pairs);
  Status time_slot(const Slot& slot, int64_t round, const LogPattern* first,
                   const LogPattern* second);
  Status count_all(bool pairs);
  bool is_wanted(size_t variant, bool pairs) const;
  bool is_checked(size_t variant) const;

  Ablation& a_;
  Journal& journal_;
  AblateProgress progress_;
  void* context_;
  GpuState gpu_;
  std::vector<std::string> pairs_;  // variants that matter
  std::set<size_t> made_;           // builds whose trees were made since the last diff
  std::optional<std::string> reference_;
};

}  // namespace fathom::ablate
