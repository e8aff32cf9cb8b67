#include <algorithm>

#include "base/json_writer.h"
#include "plan/ablate/study_report.h"
#include "plan/ablate/study_words.h"
#include "sheets/kernel_contexts.h"

namespace fathom::ablate {
namespace {

void put_number(JsonWriter& json, std::string_view key, const std::optional<double>& value) {
  json.key(key);
  if (value)
    json.value(*value);
  else
    json.null();
}

void put_speed_up(JsonWriter& json, std::string_view key, const std::optional<SpeedUp>& s) {
  json.key(key);
  if (!s) {
    json.null();
    return;
  }
  json.begin_object();
  json.key("ratio").value(s->ratio);
  put_number(json, "low", s->has_interval ? std::optional(s->low) : std::nullopt);
  put_number(json, "high", s->has_interval ? std::optional(s->high) : std::nullopt);
  json.key("difference").value(difference_name(s->difference));
  json.end_object();
}

void put_moved(JsonWriter& json, const Moved& moved) {
  json.begin_object();
  json.key("value").value(moved.value);
  put_number(json, "before", moved.before);
  put_number(json, "after", moved.after);
  json.key("as_predicted");
  if (moved.as_expected)
    json.value(*moved.as_expected);
  else
    json.null();
  json.end_object();
}

void put_next(JsonWriter& json, const Study& study) {
  json.key("next").begin_array();
  for (const NextHypothesis& next : study.next) {
    json.begin_object();
    json.key("hypothesis").value(next.tested.hypothesis->id);
    json.key("title").value(next.tested.hypothesis->title);
    json.key("evidence").value(next.evidence);
    put_number(json, "least_gain", next.tested.least_gain());
    put_number(json, "most_gain", next.most_gain);
    json.key("bounded_by_floor").value(next.is_bounded);
    json.key("tried_in").value(next.tried_in);
    json.key("fix").value(next.tested.hypothesis->fix);
    json.end_object();
  }
  json.end_array();
  json.key("missing").begin_array();
  for (const std::string& name : study.missing_counts) json.value(name);
  json.end_array();
  json.key("command").value(study.missing_command);
}

void put_row(JsonWriter& json, const Study& study, const StudyRow& row) {
  json.begin_object();
  json.key("version").value(row.variant->name);
  json.key("parent").value(study.parent_name(row));
  json.key("change").value(row.variant->change);
  json.key("state").value(state_name(row.state));
  json.key("reason").value(row.reason);
  json.key("decision").value(decision_name(row.decision));
  json.key("verdict").value(verdict_text(row));
  json.key("cases").begin_array();
  for (size_t i = 0; i < row.times.size(); ++i) {
    json.begin_object();
    json.key("case").value(study.suite->cases[i].name);
    const auto& time = row.times[i];
    put_number(json, "seconds", time ? std::optional(time->median) : std::nullopt);
    put_number(json, "low", time ? std::optional(time->low) : std::nullopt);
    put_number(json, "high", time ? std::optional(time->high) : std::nullopt);
    json.key("runs").value(static_cast<int64_t>(time ? time->count : 0));
    put_speed_up(json, "over_baseline", row.over_baseline[i]);
    put_speed_up(json, "over_previous", row.over_parent[i]);
    json.end_object();
  }
  json.end_array();
  put_number(json, "second_timer_seconds", row.second);
  put_number(json, "floor_seconds", row.floor);
  put_number(json, "bandwidth_bytes_per_second", row.bandwidth);
  put_number(json, "occupancy_percent", row.occupancy);
  json.key("moved");
  if (row.moved)
    put_moved(json, *row.moved);
  else
    json.null();
  json.key("predicted").begin_array();
  for (const Moved& moved : row.expected) put_moved(json, moved);
  json.end_array();
  json.key("warnings").begin_array();
  for (const Warning& warning : row.warnings) json.value(warning_text(warning));
  json.end_array();
  json.end_object();
}

}  // namespace

std::string study_json(const Study& study, const ReportOptions& options) {
  JsonWriter json(true);
  json.begin_object();
  json.key("title").value(study.suite->title);
  json.key("baseline").value(study.suite->baseline);
  json.key("best").value(study.best ? study.rows[*study.best].variant->name : std::string());
  json.key("platform").value(study.platform != nullptr ? study.platform->name : std::string());
  json.key("environment").begin_object();
  for (const auto& [name, value] : study.measurements->environment) json.key(name).value(value);
  json.end_object();
  json.key("variants").begin_array();
  for (const StudyRow& row : study.rows) put_row(json, study, row);
  json.end_array();
  json.key("flags").begin_array();
  for (const FlagEffect& flag : study.flags) {
    json.begin_object();
    json.key("flag").value(flag.flag);
    put_speed_up(json, "alone", flag.alone);
    put_speed_up(json, "left_out", flag.in_all);
    json.key("interacts").value(flag.differs);
    json.end_object();
  }
  json.end_array();
  json.key("pairs").begin_array();
  for (const PairEffect& pair : study.pairs) {
    json.begin_object();
    json.key("first").value(pair.first);
    json.key("second").value(pair.second);
    json.key("expected").value(pair.expected);
    put_speed_up(json, "together", pair.together);
    put_speed_up(json, "interaction", pair.interaction);
    json.end_object();
  }
  json.end_array();
  put_next(json, study);
  json.key("seconds_spent").value(study.measurements->seconds_spent);
  put_number(json, "cost",
             options.cost_per_hour
                 ? std::optional(*options.cost_per_hour * study.measurements->seconds_spent / 3600)
                 : std::nullopt);
  json.key("stale_steps").value(static_cast<int64_t>(study.measurements->stale));
  json.end_object();
  return json.take() + "\n";
}

std::string next_json(const Study& study) {
  JsonWriter json(true);
  json.begin_object();
  json.key("best").value(study.best ? study.rows[*study.best].variant->name : std::string());
  put_next(json, study);
  json.end_object();
  return json.take() + "\n";
}

}  // namespace fathom::ablate
