#include "base/json_writer.h"
#include "report/trace/path_report.h"
#include "report/trace/places.h"
#include "report/trace/summary.h"
#include "report/trace/wall_time.h"

namespace fathom {
namespace {

constexpr int64_t kSchemaVersion = 1;

void optional_text(JsonWriter& json, std::string_view key, std::string_view text) {
  json.key(key);
  text.empty() ? json.null() : json.value(text);
}

void optional_integer(JsonWriter& json, std::string_view key, std::optional<int64_t> value) {
  json.key(key);
  value ? json.value(*value) : json.null();
}

void write_timeline(JsonWriter& json, const GpuTimeline& t) {
  const auto millis = [&](std::string_view key, Nanos time) {
    json.key(key).raw(exact_decimal(time.count, 6));
  };
  json.key("gpu_timeline_ms").begin_object();
  millis("total", t.total);
  millis("busy", t.busy);
  millis("computation", t.computation);
  millis("exposed_communication", t.exposed_communication);
  millis("exposed_copies", t.exposed_copies);
  millis("idle", t.idle);
  millis("communication", t.communication);
  millis("copies", t.copies);
  json.end_object();
}

void write_counters(JsonWriter& json, const Summary::Counters& counters) {
  json.key("counters").begin_object().key("files").begin_array();
  for (const Summary::CounterSource& source : counters.files) {
    json.begin_object().key("file").value(source.file).key("tool").value(source.tool);
    optional_text(json, "gpu", source.gpu);
    json.key("launches").value(source.launches).key("joined_launches").value(source.joined);
    optional_text(json, "refused", source.refusal);
    optional_text(json, "doubt", source.doubt);
    json.end_object();
  }
  json.end_array();
  json.key("joined_percent").value(counters.joined_percent);
  json.key("untrusted_percent").value(counters.untrusted_percent);
  json.key("ambiguous_percent").value(counters.ambiguous_percent);
  if (counters.expected) {
    const auto count = [&json](std::string_view key, size_t value) {
      json.key(key).value(static_cast<int64_t>(value));
    };
    json.key("expected_vs_measured").begin_object();
    count("within", counters.expected->within);
    count("surprises", counters.expected->surprises);
    count("not_comparable", counters.expected->not_comparable);
    count("not_measured", counters.expected->not_measured);
    json.end_object();
  }
  json.key("bottlenecks").begin_array();
  write_bottlenecks(json, counters.bottlenecks);
  json.end_array().end_object();
}

void optional_number(JsonWriter& json, std::string_view key, std::optional<double> value) {
  json.key(key);
  value ? json.value(*value) : json.null();
}

void write_clocks(JsonWriter& json, const Summary::Clocks& clocks) {
  json.key("clocks").begin_object();
  json.key("known_percent").value(clocks.known_percent);
  optional_number(json, "sm_clock_mhz", clocks.sm_clock_mhz);
  optional_number(json, "power_watts", clocks.power_watts);
  optional_number(json, "temperature_celsius", clocks.temperature);
  optional_number(json, "power_cap_percent", clocks.power_cap_percent);
  optional_number(json, "thermal_slowdown_percent", clocks.thermal_percent);
  optional_number(json, "slowed_percent", clocks.slowed_percent);
  json.end_object();
}

void write_stalls(JsonWriter& json, const Summary::Stalls& stalls) {
  json.key("stalls").begin_object();
  json.key("samples").value(stalls.samples);
  json.key("samples_with_line").value(stalls.samples_with_line);
  json.key("dropped").value(stalls.dropped);
  optional_integer(json, "period_cycles",
                   stalls.period_cycles ? std::optional(static_cast<int64_t>(*stalls.period_cycles))
                                        : std::nullopt);
  json.key("places").begin_array();
  for (const Summary::Stalls::Place& place : stalls.places) {
    json.begin_object().key("kernel").value(place.kernel).key("place").value(place.place);
    json.key("percent").value(place.percent).key("reasons").value(place.reasons).end_object();
  }
  json.end_array().end_object();
}

void write_host(JsonWriter& json, const Summary::Host& host) {
  json.key("host").begin_object();
  json.key("length_ms").raw(exact_decimal(host.length.count, 6));
  json.key("ranges").begin_array();
  for (const Summary::HostRange& range : host.ranges) {
    json.begin_object().key("name").value(range.name).key("count").value(range.count);
    json.key("total_ms").value(range.total_millis).key("median_ms").value(range.median_millis);
    json.key("max_ms").value(range.max_millis).key("percent").value(range.share_percent);
    json.end_object();
  }
  json.end_array();
  json.key("counters").begin_array();
  for (const Summary::HostCounter& c : host.counters) {
    json.begin_object().key("name").value(c.name).key("values").value(c.count);
    json.key("first").value(c.first).key("last").value(c.last);
    json.key("min").value(c.min).key("mean").value(c.mean).key("max").value(c.max);
    json.end_object();
  }
  json.end_array();
  json.key("counters_left_out").value(host.left_out).end_object();
}

void write_top_ops(JsonWriter& json, const Summary& s) {
  json.key("ops_are").value(s.has_ops ? "ops" : "kernels");
  json.key("has_launches").value(s.has_launches);
  json.key("ops").begin_array();
  for (const Summary::Op& op : s.ops) {
    json.begin_object().key("name").value(op.name).key("category").value(op.category);
    json.key("calls").value(op.calls).key("gpu_ms").value(op.gpu_millis);
    json.key("percent").value(op.share_percent).end_object();
  }
  json.end_array();
  if (s.cpu) {
    json.key("cpu").begin_object();
    json.key("length_ms").raw(exact_decimal(s.cpu->length.count, 6));
    json.key("self_time_ms").raw(exact_decimal(s.cpu->self.count, 6));
    json.key("ops").begin_array();
    for (const Summary::CpuOp& op : s.cpu->ops) {
      json.begin_object().key("name").value(op.name).key("calls").value(op.calls);
      json.key("self_ms").value(op.self_millis).key("percent").value(op.share_percent);
      optional_text(json, "shapes", op.shapes);
      json.end_object();
    }
    json.end_array().end_object();
  }
}

void write_not_assessed(JsonWriter& json, const Summary& s) {
  json.key("not_assessed").begin_object().key("percent").value(100 * s.coverage.missing());
  json.key("reasons").begin_array();
  for (const Coverage::Gap& gap : s.coverage.gaps) {
    json.begin_object().key("reason").value(not_assessed_name(gap.reason));
    json.key("percent").value(100 * gap.share).key("examples").begin_array();
    for (const std::string& name : gap.examples) json.value(name);
    json.end_array().end_object();
  }
  json.end_array();
  json.key("fitting_platforms").begin_array();
  for (const std::string& name : s.fitting_platforms) json.value(name);
  json.end_array().end_object();
}

void write_findings(JsonWriter& json, const std::vector<Summary::Found>& findings) {
  json.key("findings").begin_array();
  for (const Summary::Found& f : findings) {
    json.begin_object().key("kind").value(f.kind).key("priority").value(priority_name(f.priority));
    json.key("title").value(f.title).key("subject").value(f.subject);
    json.key("saving_percent").begin_array();
    json.value(f.saving_least_percent).value(f.saving_most_percent).end_array();
    write_places(json, f.places);
    optional_text(json, "under", f.under);
    json.end_object();
  }
  json.end_array();
}

void write_diagnostics(JsonWriter& json, const std::vector<Diagnostic>& diagnostics) {
  json.key("diagnostics").begin_array();
  for (const Diagnostic& d : diagnostics) {
    const FlawText& flaw = describe(d.flaw);
    json.begin_object().key("id").value(flaw.id);
    json.key("severity").value(severity_name(flaw.severity));
    json.key("count").value(d.count).key("text").value(flaw.text);
    optional_text(json, "first", d.example);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

void write_bottlenecks(JsonWriter& json,
                       const std::vector<Summary::Counters::Bottleneck>& bottlenecks) {
  for (const Summary::Counters::Bottleneck& found : bottlenecks) {
    json.begin_object().key("kernel").value(found.kernel).key("hypothesis").value(found.hypothesis);
    json.key("evidence").value(found.evidence);
    json.key("time_ms").value(static_cast<double>(found.time.count) / 1e6);
    json.key("saving_ms").value(static_cast<double>(found.saving.count) / 1e6);
    if (found.least_gain) json.key("least_speedup").value(*found.least_gain);
    if (found.most_gain) json.key("most_speedup").value(*found.most_gain);
    json.end_object();
  }
}

std::string summary_json(const Summary& s, const ReportListing& written) {
  JsonWriter json(true);
  json.begin_object();
  json.key("schema_version").value(kSchemaVersion);
  json.key("trace").value(s.trace);
  optional_text(json, "source", s.source);
  optional_text(json, "gpu", s.gpu);
  optional_text(json, "runtime", s.runtime);
  optional_integer(json, "rank", s.rank);
  optional_integer(json, "world_size", s.world_size);
  json.key("input_bytes").value(s.input_bytes);
  json.key("events").value(s.events);
  json.key("gpu_events").value(s.gpu_events);
  json.key("skipped_events").value(s.skipped_events);
  json.key("steps").begin_array();
  for (const std::string& step : s.steps) json.value(step);
  json.end_array();
  optional_text(json, "scope", s.scope);
  write_timeline(json, s.timeline);
  write_wall_time(json, s);
  json.key("unlinked").begin_object();
  json.key("events").value(s.unlinked.events);
  json.key("time_ms").raw(exact_decimal(s.unlinked.time.count, 6));
  json.key("percent_of_gpu_time").value(s.unlinked.of_gpu * 100);
  json.key("included_in_timeline").value(s.unlinked.included);
  json.end_object();
  write_top_ops(json, s);
  if (s.host) write_host(json, *s.host);
  optional_text(json, "platform", s.platform);
  optional_text(json, "recorded_on_another_platform", s.recorded_on);
  if (s.gpu_events > 0) write_not_assessed(json, s);
  write_findings(json, s.findings);
  if (s.sources) {
    json.key("sources").begin_object().key("repository").value(s.sources->repository);
    json.key("matched_percent").value(s.sources->matched_percent);
    json.key("ambiguous_percent").value(s.sources->ambiguous_percent).end_object();
  }
  write_critical_path(json, s);
  if (s.counters) write_counters(json, *s.counters);
  if (s.clocks) write_clocks(json, *s.clocks);
  if (s.stalls) write_stalls(json, *s.stalls);
  write_diagnostics(json, s.diagnostics);
  optional_text(json, "report", written.directory);
  json.key("files").begin_array();
  for (const std::string& file : written.files) json.value(file);
  json.end_array();
  json.end_object();
  return json.take() + "\n";
}

}  // namespace fathom
