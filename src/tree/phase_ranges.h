#pragma once

#include <vector>

#include "events/latest_open.h"
#include "tree/phase_names.h"

namespace fathom {

// A name that ranges share but for its numbers.
struct PhaseName : NameMeaning {
  std::string text;
};

// The annotations of a trace as nested ranges, and which of them are phases.
class PhaseRanges {
 public:
  static constexpr int32_t kNone = -1;

  struct Range {
    EventId event;
    TrackId track;
    Nanos begin, end;
    int32_t parent = kNone;              // the range around it, on its track
    int32_t name = 0;                    // into names()
    int32_t chosen = kNone;              // the range at or around it that is its phase
    PhaseKind pass = PhaseKind::kNamed;  // of autograd's op at or around it; kNamed: none
  };
  // A look for the innermost range that is open on a track at a time.
  struct Query {
    TrackId track;
    Nanos time;
    uint32_t item = 0;  // the caller's
  };
  // Work found inside a range, the innermost one.
  struct Inside {
    int32_t range = kNone;
    Nanos time;              // on the GPU
    bool explained = false;  // autograd tells what it is
  };

  explicit PhaseRanges(const EventStore& store);

  const std::vector<Range>& all() const { return ranges_; }
  const Range& range(int32_t index) const { return ranges_[static_cast<size_t>(index)]; }
  const PhaseName& name(const Range& range) const {
    return names_[static_cast<size_t>(range.name)];
  }
  PhaseKind kind(int32_t index) const { return name(range(index)).kind; }

  // By the ranges of autograd's ops: the backward pass, and in a trace that has it the forward one.
  std::optional<PhaseKind> pass_of(int32_t range) const;
  bool has_backward() const { return has_backward_; }

  // Whether a track has any range that may be a phase.
  bool has_phases(TrackId track) const { return tracks_[track.index]; }
  bool has_images() const { return has_images_; }  // on the GPU

  // The answer to each query, by item; kNone where none is open.
  std::vector<int32_t> innermost(std::vector<Query> queries, size_t items) const;
  // The range of the host, of any thread, that began last before a time and is open. Ranges of
  // communication and parts of phases are left out: they belong to their own thread.
  int32_t on_any_thread(Nanos time) const;
  // The step that is open, or none.
  int32_t step_at(Nanos time) const;
  // For a range on the GPU the one of the host that it mirrors, if there is one; else itself.
  int32_t on_host(int32_t range) const { return mirrors_[static_cast<size_t>(range)]; }

  // Decides which ranges are phases, by the work inside them. `backward_launches`: when work of the
  // backward pass was launched, sorted.
  void choose(const std::vector<Inside>& work, const std::vector<Nanos>& backward_launches);

 private:
  struct NameFacts {
    Nanos inside;           // work in its ranges, each part counted once
    Nanos covered;          // of that, in other phases inside them, or explained otherwise
    Nanos covered_by_kind;  // in ranges of the same kind
    size_t ranges = 0;      // the outermost of the name
    size_t inner_ranges = 0;
    size_t inner_names = 0;  // next below
    size_t with_backward = 0;
    bool is_container = false;
  };

  void read_names(const EventStore& store);
  void doubt_decoding();
  void nest();
  void find_mirrors(const EventStore& store);
  std::vector<NameFacts> weigh(const std::vector<Inside>& work,
                               const std::vector<Nanos>& backward_launches) const;
  void choose_ranges(const std::vector<NameFacts>& facts);
  void drop_rare_names(const std::vector<Inside>& work, std::vector<NameFacts>& facts);
  bool may_be_phase(const Range& range) const {
    return name(range).role == NameRole::kPhase || name(range).role == NameRole::kNamed;
  }

  std::vector<PhaseName> names_;
  std::vector<Range> ranges_;  // by track, then begin, the longer first
  std::vector<int32_t> mirrors_;
  std::vector<bool> on_gpu_;
  LatestOpen any_thread_, steps_;
  std::vector<bool> tracks_;
  bool has_backward_ = false, has_images_ = false;
};

}  // namespace fathom
