#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "analyze/idle_gaps.h"
#include "sheets/collectives.h"

// What one rank's trace says, as values of its own: the events of a rank are dropped before those
// of the next are read, so memory holds the ranks in flight and these.
namespace fathom {

// What a stretch of a rank's time was. In this order: time under computation is computation, GPU
// idle time under a collective of the host (gloo) is communication.
enum class RankPart : uint8_t { kComputation, kCommunication, kCopies, kFirstIdle };
inline constexpr size_t kRankParts = static_cast<size_t>(RankPart::kFirstIdle) + kIdleCauses;
// Parts that add up to the stretch; from kFirstIdle on idle time, by cause.
using RankParts = std::array<Nanos, kRankParts>;

constexpr size_t part_index(RankPart part) { return static_cast<size_t>(part); }
constexpr size_t part_index(IdleCause cause) {
  return static_cast<size_t>(RankPart::kFirstIdle) + static_cast<size_t>(cause);
}
// For programs: "computation", "exposed_communication", "idle_late_launch".
std::string rank_part_name(size_t part);
RankParts parts_between(const RankParts& from, const RankParts& to);
Nanos total_of(const RankParts& parts);

using TextNumber = uint32_t;  // into RankFacts::texts
inline constexpr uint32_t kNoNumber = UINT32_MAX;

// As the trace describes it. Ranks of one group describe it alike.
struct RankGroup {
  std::string name, description, ranks;
  std::vector<int64_t> members;  // read from `ranks`; empty: not known
  std::optional<int64_t> size;
  bool on_host = false;  // its collectives run on the CPU (gloo)
};

// GPU time of one op, or idle time put down to one call, in the stretch before a collective.
struct RankWork {
  TextNumber name = kNoNumber, place = kNoNumber;
  Nanos time;
  uint32_t count = 0;
  IdleCause cause = IdleCause::kOther;  // of idle time
};

struct RankCollective {
  uint32_t group = 0;
  CollectiveKind kind = CollectiveKind::kOther;
  TextNumber name = kNoNumber, dtype = kNoNumber;
  std::optional<int64_t> sequence, step;  // in its group; the number of the step around it
  Nanos start, end;                       // on the rank's own clock
  std::optional<double> bytes, bus_bytes;
  std::optional<int64_t> in_elements, out_elements;
  std::optional<int64_t> peer;  // of a send or receive, by its number in the job
  // Since the begin of the recording.
  RankParts until_start = {}, until_end = {};
  uint32_t previous = kNoNumber;  // of the same group, the last that had ended
  // Between the two: the largest few, into RankFacts::work.
  uint32_t first_op = 0, ops = 0;
  uint32_t first_idle = 0, idles = 0;

  Nanos duration() const { return end - start; }
};

struct RankStep {
  std::optional<int64_t> number;  // "ProfilerStep#12": 12
  std::string name;
  Nanos begin, end;
  RankParts parts = {};
};

// A rank's time from afar: equal parts of it, each with how much was computation and so on.
struct RankStrip {
  static constexpr size_t kColumns = 800;
  enum Row : uint8_t { kComputation, kCommunication, kCopies, kRows };
  std::vector<std::array<float, kRows>> columns;  // shares
};

struct RankFacts {
  std::string trace, gpu;
  std::optional<int64_t> rank, world_size;
  std::string backend;
  bool rank_from_name = false;  // of the file; the trace itself does not have it
  bool truncated = false;       // the trace, or collectives beyond the most that are kept
  int64_t events = 0;
  std::optional<Nanos> base_time;  // what its clock counts from
  Nanos begin, end;                // of the time base
  bool has_steps = false;
  bool has_gpu_work = true;  // without, all but collectives of the host is idle time, other
  RankParts parts = {};
  Nanos communication, hidden;  // collectives of GPU and host in it; of that, under computation
  std::vector<RankGroup> groups;
  std::vector<RankCollective> collectives;  // in the order of their starts
  std::vector<RankWork> work;
  std::vector<RankStep> steps;
  RankStrip strip;
  std::vector<std::string> texts;

  Nanos wall() const { return end - begin; }
  Nanos idle() const;
  const std::string& text(TextNumber number) const;
};

// Of a rank's busiest GPU. Costs in proportion to the trace.
RankFacts extract_rank(const SheetInput& input, std::string trace);

// Of a step's name, "ProfilerStep#12": 12; none: it ends with no number.
std::optional<int64_t> number_at_end(std::string_view name);

// The number in a file's name: "rank-3.json.gz", "trace_rank_12.pt.trace.json"; none: no rank
// there.
std::optional<int64_t> rank_in_name(std::string_view path);

}  // namespace fathom
