#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include "analyze/critical/critical_path.h"
#include "events/intervals.h"

namespace fathom {

// The steps of a critical graph as they would run without the profiler, and what a repair makes of
// them: work is shortened or removed, and the graph is replayed.
//
// A profiler lengthens what the host does, by a part of each short call. A saving is a part of a
// step that runs without it, so both lengths are those of such a step.
class StepModel {
 public:
  // How much of a short host call is left without the profiler is not known well; 1: all of it.
  struct HostLeft {
    double least, likely, most;
  };
  // By what the profiler recorded: stacks, ops, or neither.
  StepModel(const SheetInput& input, const CriticalPath& path);
  StepModel(const SheetInput& input, const CriticalPath& path, const HostLeft& left);

  // A repair begins with none of these.
  void begin_repair();
  // The part of GPU work that is left; 0: the work is gone.
  void keep_work(EventId work, double part);
  // A call of the host with all calls in it. What it launches stays.
  void remove_call(CallId call);
  // Waits for the GPU in a call of the host.
  void remove_waits_in(CallId call);
  // A part of the host's time in calls, and of the short times between them, that is left.
  void keep_calls(double part) { calls_left_ = part; }
  // Host time of a thread outside of calls: what is longer than the way from call to call, or all.
  struct Code {
    TrackId track;
    Interval when;
  };
  void remove_code(const Code& code, bool all);
  // The part of the step that the repair saves, not negative: where so much of a host call is left.
  double saved(Outlook outlook, double HostLeft::* left = &HostLeft::likely);
  // The same where the profiler lengthens what goes the least, and what stays the most.
  double saved_at_most();
  // The least and the most that a change of the recorded graph saves, however much of a host call
  // is left; no repair is in force. Negative where it makes the step longer.
  std::pair<double, double> saved_by(const GraphChange& change);

  // How often the steps without the profiler fit into those that were recorded.
  double lengthened();

  // Whether an event is in the steps that the graph covers.
  bool covers(EventId event) const { return in_window_[event.index]; }
  // Each repair costs two passes over the graph; after some of them no more are made.
  bool spent() const { return visited_ >= kMostVisited; }

 private:
  static constexpr size_t kMostVisited = 40'000'000;

  struct RemovedCode {
    TrackId track;
    int64_t begin, end;
    bool all;
  };
  int64_t left_of(int64_t length) const;
  void leave(uint32_t event, float part) {
    left_[event] = part;
    changed_.push_back(event);
  }
  // Of the steps, without a repair.
  int64_t whole(Outlook outlook);
  int64_t repaired(Outlook outlook);
  const std::vector<int64_t>& durations();
  void index_nodes();
  void change_node(uint32_t node);
  void find_tracks();
  void find_profiler_code();
  static std::vector<RemovedCode> merged(std::vector<RemovedCode> code);
  int64_t host_time(uint32_t node, bool is_repaired) const;
  bool is_removed(const std::vector<RemovedCode>& code, TrackId track, int64_t begin,
                  int64_t length) const;

  const SheetInput& input_;
  const CriticalGraph& graph_;
  HostLeft left_of_calls_;
  double host_left_ = 1;
  GraphChange change_;
  Replayed replayed_;
  std::vector<float> left_;                 // by event, of a repair
  std::vector<bool> is_gone_;               // by event: a call that was removed with all in it
  std::vector<uint32_t> changed_;           // events of which either is set
  std::vector<bool> in_window_, is_wait_;   // by event
  std::vector<TrackId> track_;              // by host node
  std::vector<RemovedCode> code_;           // of a repair
  std::vector<RemovedCode> profiler_code_;  // no part of a step without the profiler
  double calls_left_ = 1;
  std::vector<std::tuple<double, Outlook, int64_t>> lengths_;  // without a repair
  // Of nodes without a repair, by what is left of the host's calls.
  std::vector<std::pair<double, std::vector<int64_t>>> durations_;
  std::vector<uint32_t> first_node_, nodes_;  // by event, once asked for
  std::vector<uint32_t> changed_in_;          // by node: the last question that changed it
  uint32_t round_ = 0;
  size_t visited_ = 0;
};

}  // namespace fathom
