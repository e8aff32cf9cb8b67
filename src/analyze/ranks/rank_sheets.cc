#include <algorithm>

#include "analyze/ranks/compare_ranks.h"

namespace fathom {
namespace {

constexpr size_t kMostMemberRows = 200'000;

std::optional<double> giga(std::optional<double> bytes_per_second) {
  return bytes_per_second ? std::optional(*bytes_per_second / 1e9) : std::nullopt;
}
std::optional<double> mega(std::optional<double> bytes) {
  return bytes ? std::optional(*bytes / (1 << 20)) : std::nullopt;
}

// The number; of a trace without one the place in the list of traces, which the sheet of ranks has.
void add_rank(Column& column, const RankComparison& c, uint32_t place) {
  column.add(c.ranks[place].rank);
}

Table ranks_sheet(const RankComparison& c) {
  Table table("ranks");
  Column& rank = table.count_column("rank");
  Column& trace = table.text_column("trace");
  Column& gpu = table.text_column("GPU");
  Column& steps = table.count_column("steps");
  Column& wall = table.time_column("wall time (ms)", Unit::kMillis);
  Column& computation = table.time_column("computation (ms)", Unit::kMillis);
  Column& communication = table.time_column("communication (ms)", Unit::kMillis);
  Column& exposed = table.time_column("exposed communication (ms)", Unit::kMillis);
  Column& overlap = table.real_column("communication under computation (%)", Unit::kPercent);
  Column& copies = table.time_column("exposed copies (ms)", Unit::kMillis);
  Column& idle = table.time_column("idle (ms)", Unit::kMillis);
  Column& collectives = table.count_column("matched collectives");
  Column& missing = table.count_column("missing collectives");
  Column& time = table.time_column("in collectives (ms)", Unit::kMillis);
  Column& waiting = table.time_column("waiting (ms)", Unit::kMillis);
  Column& exposed_waiting = table.time_column("exposed waiting (ms)", Unit::kMillis);
  Column& transfer = table.time_column("transfer (ms)", Unit::kMillis);
  Column& rest = table.time_column("ending later (ms)", Unit::kMillis);
  Column& first = table.count_column("first to begin");
  Column& last = table.count_column("last to begin");
  Column& late_by = table.time_column("late by (ms)", Unit::kMillis);
  Column& caused = table.time_column("waiting caused (ms)", Unit::kMillis);
  Column& clock = table.text_column("clock");
  Column& offset = table.time_column("clock offset (µs)", Unit::kMicros);
  Column& drift = table.real_column("clock drift (ppm)");
  Column& drift_error = table.real_column("clock drift ± (ppm)");
  Column& residual = table.time_column("clock residual (µs)", Unit::kMicros);
  Column& residual_90 = table.time_column("clock residual 90 % (µs)", Unit::kMicros);
  Column& stage = table.count_column("pipeline stage");
  Column& bubble = table.time_column("pipeline bubble (ms)", Unit::kMillis);
  Column& received = table.real_column("all-to-all received (elements)");
  for (uint32_t r = 0; r < c.ranks.size(); ++r) {
    const RankFacts& facts = c.ranks[r];
    const RankRow& row = c.rows[r];
    const RankClock& own = c.clocks.ranks[r];
    rank.add(facts.rank);
    trace.add(std::string_view(facts.trace));
    gpu.add(std::string_view(facts.gpu));
    steps.add(static_cast<int64_t>(facts.steps.size()));
    wall.add(facts.wall());
    computation.add(facts.parts[part_index(RankPart::kComputation)]);
    communication.add(facts.communication);
    exposed.add(facts.parts[part_index(RankPart::kCommunication)]);
    facts.communication.count > 0 ? overlap.add(ratio(facts.hidden, facts.communication) * 100)
                                  : overlap.add_unknown();
    copies.add(facts.parts[part_index(RankPart::kCopies)]);
    idle.add(facts.idle());
    collectives.add(static_cast<int64_t>(row.collectives));
    missing.add(static_cast<int64_t>(row.missing));
    time.add(row.time);
    waiting.add(row.waiting);
    exposed_waiting.add(row.exposed_waiting);
    transfer.add(row.transfer);
    rest.add(row.rest);
    first.add(static_cast<int64_t>(row.first));
    last.add(static_cast<int64_t>(row.last));
    late_by.add(c.late[r].late_by);
    caused.add(c.late[r].caused);
    clock.add(own.is_reference ? std::string_view("reference")
              : own.aligned()  ? std::string_view("aligned")
                               : clock_refusal_name(own.refusal));
    own.aligned() && own.offset ? offset.add(*own.offset) : offset.add_unknown();
    own.aligned() ? drift.add(own.drift * 1e6) : drift.add_unknown();
    own.aligned() && own.drift_error ? drift_error.add(*own.drift_error * 1e6)
                                     : drift_error.add_unknown();
    const bool fitted = own.collectives > 0 && !own.is_reference;
    fitted ? residual.add(own.residual) : residual.add_unknown();
    fitted ? residual_90.add(own.residual_p90) : residual_90.add_unknown();
    const bool piped = c.pipeline && c.pipeline->stage[r];
    piped ? stage.add(static_cast<int64_t>(*c.pipeline->stage[r])) : stage.add_unknown();
    piped ? bubble.add(c.pipeline->bubble[r]) : bubble.add_unknown();
    c.experts ? received.add(c.experts->received[r]) : received.add_unknown();
  }
  return table;
}

Table summary_sheet(const RankComparison& c) {
  Table table("rank_collective_summary");
  Column& group = table.text_column("Process Group Name");
  Column& description = table.text_column("Process Group Description");
  Column& name = table.text_column("Collective name");
  Column& dtype = table.text_column("dtype");
  Column& size = table.real_column("message (MB)", Unit::kMegabytes);
  Column& ranks = table.count_column("ranks");
  Column& count = table.count_column("count");
  Column& transfer = table.time_column("transfer total (ms)", Unit::kMillis);
  Column& least = table.time_column("transfer least (µs)", Unit::kMicros);
  Column& most = table.time_column("transfer most (µs)", Unit::kMicros);
  Column& skew = table.time_column("skew total (ms)", Unit::kMillis);
  Column& most_skew = table.time_column("skew most (µs)", Unit::kMicros);
  Column& waiting = table.time_column("waiting of all ranks (ms)", Unit::kMillis);
  Column& algorithm = table.real_column("algo bw (GB/s)", Unit::kGigabytesPerSecond);
  Column& bus = table.real_column("bus bw (GB/s)", Unit::kGigabytesPerSecond);
  Column& of_link = table.real_column("of the link (%)", Unit::kPercent);
  Column& mostly = table.count_column("mostly last rank");
  Column& last = table.count_column("times last");
  for (const CollectiveRow& row : c.collectives) {
    group.add(std::string_view(c.matches.groups[row.group].name));
    description.add(std::string_view(c.matches.groups[row.group].description));
    name.add(std::string_view(row.name));
    dtype.add(std::string_view(row.dtype));
    size.add(mega(row.bytes));
    ranks.add(static_cast<int64_t>(row.ranks));
    count.add(static_cast<int64_t>(row.count));
    transfer.add(row.transfer);
    least.add(row.least_transfer);
    most.add(row.most_transfer);
    skew.add(row.skew);
    most_skew.add(row.most_skew);
    waiting.add(row.waiting);
    algorithm.add(giga(row.algorithm_rate));
    bus.add(giga(row.bus_rate));
    row.of_link ? of_link.add(*row.of_link * 100) : of_link.add_unknown();
    add_rank(mostly, c, row.mostly_last);
    last.add(static_cast<int64_t>(row.last_count));
  }
  return table;
}

Table collectives_sheet_of(const RankComparison& c) {
  Table table("rank_collectives");
  Column& id = table.count_column("collective");
  Column& group = table.text_column("Process Group Name");
  Column& name = table.text_column("Collective name");
  Column& sequence = table.count_column("Seq");
  Column& step = table.count_column("step");
  Column& ranks = table.count_column("ranks");
  Column& complete = table.text_column("all ranks of the group");
  Column& size = table.real_column("message (MB)", Unit::kMegabytes);
  Column& begin = table.time_column("last begin (µs)", Unit::kMicros);
  Column& transfer = table.time_column("transfer (µs)", Unit::kMicros);
  Column& skew = table.time_column("skew (µs)", Unit::kMicros);
  Column& late = table.time_column("late by (µs)", Unit::kMicros);
  Column& waiting = table.time_column("waiting of all ranks (µs)", Unit::kMicros);
  Column& end_skew = table.time_column("end skew (µs)", Unit::kMicros);
  Column& algorithm = table.real_column("algo bw (GB/s)", Unit::kGigabytesPerSecond);
  Column& bus = table.real_column("bus bw (GB/s)", Unit::kGigabytesPerSecond);
  Column& first = table.count_column("first rank");
  Column& last = table.count_column("last rank");
  Column& by = table.text_column("measured by");
  const Nanos origin = c.ranks.empty() ? Nanos{} : c.ranks[c.clocks.reference].begin;
  for (const CollectiveWait& wait : c.waits) {
    const MatchedCollective& matched = c.matches.all[wait.matched];
    const MatchedMember member = c.matches.members_of(matched)[0];
    const RankFacts& facts = c.ranks[member.rank];
    const RankCollective& own = facts.collectives[member.collective];
    id.add(static_cast<int64_t>(wait.matched));
    group.add(std::string_view(c.matches.groups[matched.group].name));
    name.add(std::string_view(facts.text(own.name)));
    sequence.add(own.sequence);
    step.add(own.step);
    ranks.add(static_cast<int64_t>(matched.members));
    complete.add(std::string_view(matched.complete ? "yes" : "no"));
    size.add(mega(wait.bytes));
    wait.by_clocks ? begin.add(wait.begin - origin) : begin.add_unknown();
    transfer.add(wait.transfer);
    skew.add(wait.skew);
    late.add(wait.late_by);
    waiting.add(wait.waiting);
    wait.by_clocks ? end_skew.add(wait.end_skew) : end_skew.add_unknown();
    algorithm.add(giga(wait.algorithm_rate()));
    bus.add(giga(wait.bus_rate()));
    add_rank(first, c, wait.first);
    add_rank(last, c, wait.last);
    by.add(std::string_view(wait.by_clocks ? "clocks" : "durations"));
  }
  return table;
}

Table members_sheet(const RankComparison& c) {
  Table table("rank_collective_members");
  Column& id = table.count_column("collective");
  Column& rank = table.count_column("rank");
  Column& start = table.time_column("begin (µs)", Unit::kMicros);
  Column& duration = table.time_column("duration (µs)", Unit::kMicros);
  Column& waiting = table.time_column("waiting (µs)", Unit::kMicros);
  Column& transfer = table.time_column("transfer (µs)", Unit::kMicros);
  Column& rest = table.time_column("ending later (µs)", Unit::kMicros);
  const Nanos origin = c.ranks.empty() ? Nanos{} : c.ranks[c.clocks.reference].begin;
  size_t rows = 0;
  for (const CollectiveWait& wait : c.waits) {
    const auto members = c.matches.members_of(c.matches.all[wait.matched]);
    rows += members.size();
    if (rows > kMostMemberRows) break;
    const std::vector<Nanos> waits = member_waits(c.ranks, c.matches, c.clocks, wait);
    for (size_t i = 0; i < members.size(); ++i) {
      const RankCollective& own = c.ranks[members[i].rank].collectives[members[i].collective];
      const RankClock& clock = c.clocks.ranks[members[i].rank];
      id.add(static_cast<int64_t>(wait.matched));
      add_rank(rank, c, members[i].rank);
      clock.aligned() ? start.add(clock.to_common(own.start) - origin) : start.add_unknown();
      duration.add(own.duration());
      waiting.add(waits[i]);
      transfer.add(wait.transfer);
      rest.add(own.duration() - waits[i] - wait.transfer);
    }
  }
  return table;
}

Table lateness_sheet(const RankComparison& c) {
  Table table("rank_lateness");
  Column& rank = table.count_column("rank");
  Column& collectives = table.count_column("last to begin");
  Column& explained = table.count_column("explained");
  Column& late_by = table.time_column("late by (ms)", Unit::kMillis);
  Column& what = table.text_column("what");
  Column& name = table.text_column("name");
  Column& place = table.text_column("place");
  Column& excess = table.time_column("more than the others (ms)", Unit::kMillis);
  Column& own = table.time_column("own (ms)", Unit::kMillis);
  Column& others = table.time_column("others (ms)", Unit::kMillis);
  Column& own_count = table.count_column("own count");
  Column& other_count = table.count_column("others count");
  for (const LateRank& late : c.late) {
    if (late.collectives == 0) continue;
    const auto common = [&](std::string_view kind) {
      add_rank(rank, c, late.rank);
      collectives.add(static_cast<int64_t>(late.collectives));
      explained.add(static_cast<int64_t>(late.explained));
      late_by.add(late.late_by);
      what.add(kind);
    };
    for (size_t p = 0; p < kRankParts; ++p) {
      if (late.excess[p] == Nanos{}) continue;
      common(rank_part_name(p));
      name.add_unknown();
      place.add_unknown();
      excess.add(late.excess[p]);
      own.add_unknown();
      others.add_unknown();
      own_count.add_unknown();
      other_count.add_unknown();
    }
    const auto add = [&](std::string_view kind, const LateWork& work) {
      common(kind);
      name.add(std::string_view(work.name));
      place.add(std::string_view(work.place));
      excess.add(work.excess);
      own.add(work.own);
      others.add(work.others);
      own_count.add(static_cast<int64_t>(work.own_count));
      other_count.add(static_cast<int64_t>(work.other_count));
    };
    for (const LateWork& work : late.ops) add("op", work);
    for (const LateWork& work : late.idle) add(rank_part_name(part_index(work.cause)), work);
  }
  return table;
}

Table steps_sheet(const RankComparison& c) {
  Table table("rank_steps");
  Column& step = table.count_column("step");
  Column& ranks = table.count_column("ranks");
  Column& longest = table.time_column("longest (ms)", Unit::kMillis);
  Column& longest_rank = table.count_column("longest rank");
  Column& shortest = table.time_column("shortest (ms)", Unit::kMillis);
  Column& lateness = table.time_column("lateness in collectives (ms)", Unit::kMillis);
  Column& late = table.count_column("latest rank");
  Column& late_by = table.time_column("late by (ms)", Unit::kMillis);
  for (const StepRow& row : c.steps) {
    step.add(row.number);
    ranks.add(static_cast<int64_t>(row.ranks));
    longest.add(row.longest);
    add_rank(longest_rank, c, row.longest_rank);
    shortest.add(row.shortest);
    lateness.add(row.lateness);
    row.late ? late.add(c.ranks[*row.late].rank) : late.add_unknown();
    late_by.add(row.late_by);
  }
  return table;
}

Table path_sheet(const RankComparison& c) {
  Table table("rank_path");
  Column& begin = table.time_column("begin (µs)", Unit::kMicros);
  Column& end = table.time_column("end (µs)", Unit::kMicros);
  Column& time = table.time_column("time (µs)", Unit::kMicros);
  Column& rank = table.count_column("rank");
  Column& what = table.text_column("what");
  Column& collective = table.count_column("collective");
  const Nanos origin = c.ranks.empty() ? Nanos{} : c.ranks[c.clocks.reference].begin;
  for (const RankPathSegment& segment : c.path.segments) {
    const bool is_transfer = segment.wait != kNoNumber;
    begin.add(segment.begin - origin);
    end.add(segment.end - origin);
    time.add(segment.end - segment.begin);
    add_rank(rank, c, segment.rank);
    what.add(std::string_view(is_transfer ? "transfer" : "work"));
    is_transfer ? collective.add(static_cast<int64_t>(c.waits[segment.wait].matched))
                : collective.add_unknown();
  }
  return table;
}

}  // namespace

std::vector<Table> rank_sheets(const RankComparison& c) {
  std::vector<Table> sheets;
  sheets.push_back(ranks_sheet(c));
  sheets.push_back(summary_sheet(c));
  sheets.push_back(collectives_sheet_of(c));
  sheets.push_back(members_sheet(c));
  sheets.push_back(lateness_sheet(c));
  sheets.push_back(steps_sheet(c));
  if (c.path.missing.empty()) sheets.push_back(path_sheet(c));
  return sheets;
}

}  // namespace fathom
