#include "base/json_writer.h"
#include "report/ranks/ranks_report.h"

namespace fathom {
namespace {

constexpr int64_t kRanksSchemaVersion = 1;

class RanksJson {
 public:
  explicit RanksJson(const RanksView& view) : c_(view.comparison), view_(view) {}

  std::string write(const ReportListing& written) {
    json_.begin_object().key("schema_version").value(kRanksSchemaVersion);
    json_.key("kind").value("ranks");
    integer("world_size", c_.world_size);
    json_.key("wall_time_ns").value(c_.wall.count);
    json_.key("verdict").value(rank_verdict_name(c_.verdict));
    json_.key("lateness_ns").value(c_.lateness.count);
    json_.key("late_ranks").begin_array();
    for (const uint32_t r : c_.late_ranks)
      c_.ranks[r].rank ? json_.value(*c_.ranks[r].rank) : json_.value(c_.ranks[r].trace);
    json_.end_array();
    straggler();
    matches();
    ranks();
    collectives();
    steps();
    path();
    patterns();
    notes();
    json_.key("report");
    written.directory.empty() ? json_.null() : json_.value(written.directory);
    json_.key("files").begin_array();
    for (const std::string& file : written.files) json_.value(file);
    json_.end_array().end_object();
    return json_.take() + "\n";
  }

 private:
  void integer(std::string_view key, std::optional<int64_t> value) {
    json_.key(key);
    value ? json_.value(*value) : json_.null();
  }
  void time(std::string_view key, Nanos value) { json_.key(key).value(value.count); }
  void real(std::string_view key, std::optional<double> value) {
    json_.key(key);
    value ? json_.value(*value) : json_.null();
  }
  void rank(std::string_view key, uint32_t place) { integer(key, c_.ranks[place].rank); }

  void work(const std::vector<LateWork>& list) {
    json_.begin_array();
    for (const LateWork& w : list) {
      json_.begin_object().key("name").value(w.name).key("place").value(w.place);
      json_.key("cause").value(idle_cause_name(w.cause));
      time("excess_ns", w.excess);
      time("own_ns", w.own);
      time("others_ns", w.others);
      json_.key("own_count").value(static_cast<int64_t>(w.own_count));
      json_.key("others_count").value(static_cast<int64_t>(w.other_count)).end_object();
    }
    json_.end_array();
  }

  void straggler() {
    json_.key("straggler");
    if (c_.late_ranks.empty()) {
      json_.null();
      return;
    }
    const LateRank& late = c_.late[c_.straggler];
    json_.begin_object();
    rank("rank", c_.straggler);
    json_.key("trace").value(c_.ranks[c_.straggler].trace);
    json_.key("collectives").value(static_cast<int64_t>(late.collectives));
    json_.key("explained").value(static_cast<int64_t>(late.explained));
    time("late_by_ns", late.late_by);
    time("waiting_caused_ns", late.caused);
    json_.key("share_of_lateness").value(c_.straggler_share);
    integer("since_step", c_.since);
    json_.key("reason").value(late_reason_name(late.reason));
    json_.key("largest_part");
    late.reason == LateReason::kUnknown ? json_.null() : json_.value(rank_part_name(late.part));
    json_.key("excess_ns").begin_object();
    for (size_t p = 0; p < kRankParts; ++p) {
      if (late.excess[p] != Nanos{}) time(rank_part_name(p), late.excess[p]);
    }
    json_.end_object().key("ops");
    work(late.ops);
    json_.key("idle");
    work(late.idle);
    json_.end_object();
  }

  void matches() {
    const CollectiveMatches& m = c_.matches;
    json_.key("matching").begin_object();
    json_.key("collectives").value(static_cast<int64_t>(m.all.size()));
    json_.key("runs").value(static_cast<int64_t>(m.runs));
    json_.key("unmatched_runs").value(static_cast<int64_t>(m.unmatched));
    json_.key("differing").value(static_cast<int64_t>(m.differing));
    json_.key("without_duration").value(static_cast<int64_t>(m.untimed));
    json_.key("group_conflicts").value(static_cast<int64_t>(m.group_conflicts));
    json_.key("clock_contradictions").value(static_cast<int64_t>(c_.clocks.contradictions));
    json_.end_object();
  }

  void ranks() {
    json_.key("ranks").begin_array();
    for (uint32_t r = 0; r < c_.ranks.size(); ++r) {
      const RankFacts& facts = c_.ranks[r];
      const RankRow& row = c_.rows[r];
      const RankClock& clock = c_.clocks.ranks[r];
      json_.begin_object();
      rank("rank", r);
      json_.key("trace").value(facts.trace).key("gpu").value(facts.gpu);
      json_.key("truncated").value(facts.truncated);
      time("wall_time_ns", facts.wall());
      time("computation_ns", facts.parts[part_index(RankPart::kComputation)]);
      time("communication_ns", facts.communication);
      time("hidden_communication_ns", facts.hidden);
      time("exposed_communication_ns", facts.parts[part_index(RankPart::kCommunication)]);
      time("exposed_copies_ns", facts.parts[part_index(RankPart::kCopies)]);
      time("idle_ns", facts.idle());
      json_.key("missing_collectives").value(static_cast<int64_t>(row.missing));
      time("in_collectives_ns", row.time);
      time("waiting_ns", row.waiting);
      time("exposed_waiting_ns", row.exposed_waiting);
      time("transfer_ns", row.transfer);
      json_.key("last_to_begin").value(static_cast<int64_t>(row.last));
      time("late_by_ns", c_.late[r].late_by);
      json_.key("clock").begin_object().key("aligned").value(clock.aligned());
      json_.key("refusal");
      clock.aligned() ? json_.null() : json_.value(clock_refusal_name(clock.refusal));
      json_.key("collectives").value(static_cast<int64_t>(clock.collectives));
      if (clock.aligned()) {
        json_.key("offset_ns");
        clock.offset ? json_.value(clock.offset->count) : json_.null();
        json_.key("drift_ppm").value(clock.drift * 1e6);
        json_.key("drift_error_ppm");
        clock.drift_error ? json_.value(*clock.drift_error * 1e6) : json_.null();
      }
      if (clock.collectives > 0 && !clock.is_reference) {
        time("residual_median_ns", clock.residual);
        time("residual_90_percent_ns", clock.residual_p90);
        time("residual_largest_ns", clock.worst);
      }
      json_.end_object().end_object();
    }
    json_.end_array();
  }

  void collectives() {
    json_.key("collectives").begin_array();
    for (const CollectiveRow& row : c_.collectives) {
      json_.begin_object().key("group").value(c_.matches.groups[row.group].name);
      json_.key("name").value(row.name).key("kind").value(collective_kind_name(row.kind));
      json_.key("dtype").value(row.dtype);
      real("message_bytes", row.bytes);
      json_.key("ranks").value(static_cast<int64_t>(row.ranks));
      json_.key("count").value(static_cast<int64_t>(row.count));
      time("transfer_ns", row.transfer);
      time("skew_ns", row.skew);
      time("largest_skew_ns", row.most_skew);
      time("waiting_ns", row.waiting);
      real("algorithm_bytes_per_second", row.algorithm_rate);
      real("bus_bytes_per_second", row.bus_rate);
      real("of_link", row.of_link);
      rank("mostly_last", row.mostly_last);
      json_.end_object();
    }
    json_.end_array();
  }

  void steps() {
    json_.key("steps").begin_array();
    for (const StepRow& row : c_.steps) {
      json_.begin_object().key("step").value(row.number);
      json_.key("ranks").value(static_cast<int64_t>(row.ranks));
      time("longest_ns", row.longest);
      time("shortest_ns", row.shortest);
      time("lateness_ns", row.lateness);
      json_.key("latest");
      row.late&& c_.ranks[*row.late].rank ? json_.value(*c_.ranks[*row.late].rank) : json_.null();
      json_.end_object();
    }
    json_.end_array();
  }

  void path() {
    json_.key("critical_path");
    if (!c_.path.missing.empty()) {
      json_.null();
      return;
    }
    json_.begin_object();
    time("length_ns", c_.path.length);
    time("transfer_ns", c_.path.transfer);
    json_.key("rank_switches").value(static_cast<int64_t>(c_.path.switches));
    json_.key("parts_ns").begin_object();
    for (size_t p = 0; p < kRankParts; ++p) {
      if (c_.path.parts[p] != Nanos{}) time(rank_part_name(p), c_.path.parts[p]);
    }
    json_.end_object().end_object();
  }

  void patterns() {
    json_.key("pipeline");
    if (c_.pipeline) {
      json_.begin_object().key("stages").value(static_cast<int64_t>(c_.pipeline->stages));
      json_.key("interleaved").value(c_.pipeline->is_ring).key("ranks").begin_array();
      for (uint32_t r = 0; r < c_.ranks.size(); ++r) {
        if (!c_.pipeline->stage[r]) continue;
        json_.begin_object();
        rank("rank", r);
        json_.key("stage").value(static_cast<int64_t>(*c_.pipeline->stage[r]));
        time("bubble_ns", c_.pipeline->bubble[r]);
        json_.end_object();
      }
      json_.end_array().end_object();
    } else {
      json_.null();
    }
    json_.key("experts");
    if (c_.experts) {
      json_.begin_object();
      json_.key("all_to_alls").value(static_cast<int64_t>(c_.experts->collectives));
      json_.key("mean_imbalance").value(c_.experts->mean_imbalance);
      json_.key("worst_imbalance").value(c_.experts->worst_imbalance);
      rank("most_loaded", c_.experts->most_loaded);
      json_.end_object();
    } else {
      json_.null();
    }
  }

  void notes() {
    json_.key("missing_ranks").value(static_cast<int64_t>(c_.missing_count));
    json_.key("notes").begin_array();
    for (const std::string& note : rank_sentences(view_).notes) json_.value(note);
    json_.end_array();
  }

  const RankComparison& c_;
  const RanksView& view_;
  JsonWriter json_{true};
};

}  // namespace

std::string ranks_json(const RanksView& view, const ReportListing& written) {
  return RanksJson(view).write(written);
}

}  // namespace fathom
