#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "tree/phase_ranges.h"

namespace fathom {

// A GPU event on its way into a run.
struct PhaseItem {
  EventId event;
  Nanos when;      // of the launch; else of its start on the GPU
  TrackId thread;  // of the launch; invalid where it is unknown
  int32_t device = -1;
  int32_t step = PhaseRanges::kNone;
  PhaseKind kind = PhaseKind::kOther;
  PhaseEvidence evidence = PhaseEvidence::kNone;
  int32_t range = PhaseRanges::kNone;  // of an annotation: one run for each
  uint32_t repetition = 0;             // which one; 0: none
  uint32_t part = 0;                   // a run of a repetition; 0: none
  EventId shown_by = {};               // a Python function, or what shows the shapes
  bool is_between = false;             // of the phase only because it is between its work

  bool has_phase() const { return evidence != PhaseEvidence::kNone || kind != PhaseKind::kOther; }
};

// Gathers items, by device and in the order of their launches, into the runs of phases.
class PhaseRuns {
 public:
  PhaseRuns(const EventStore& store, const CallTree& tree, const PhaseRanges& ranges,
            const std::vector<PhaseItem>& items);

  std::vector<Phase> take() && { return std::move(phases_); }

 private:
  // Kind, evidence, a number of the name or of the repetition, the name of a function.
  using PhaseKey = std::tuple<PhaseKind, PhaseEvidence, int32_t, StringId>;

  // The last run of a phase whose runs are told apart by what is between them.
  struct Current {
    size_t run = 0, passes = 0;
    int32_t step = PhaseRanges::kNone;
  };

  void find_only_names(const std::vector<PhaseItem>& items);
  void add(const PhaseItem& item);
  PhaseKey key_of(const PhaseItem& item) const;
  size_t phase_of(const PhaseItem& item);
  EventId example_of(const PhaseItem& item) const;
  size_t run_of(const PhaseItem& item, size_t phase);
  void begin_range(Phase& phase, const PhaseItem& item) const;
  void add_work(PhaseRun& run, const PhaseItem& item) const;
  void finish(PhaseRun& run) const;

  const EventStore& store_;
  const CallTree& tree_;
  const PhaseRanges& ranges_;
  std::vector<Phase> phases_;
  std::map<PhaseKind, int32_t> only_names_;  // of kinds whose ranges all have one name
  std::map<PhaseKey, size_t> by_key_;
  std::map<std::pair<size_t, uint64_t>, size_t> runs_;  // of ranges, functions and repeats
  std::vector<Current> current_;
  size_t last_pass_ = SIZE_MAX, passes_ = 0;
  size_t others_ = 0;  // of no phase since the last pass
  int32_t device_ = -1;
};

}  // namespace fathom
