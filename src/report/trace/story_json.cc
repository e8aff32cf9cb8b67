#include "base/json_writer.h"
#include "base/utf8.h"
#include "report/trace/run_story.h"

namespace fathom {
namespace {

// Names of the trace as they are: JSON makes them inert itself.
std::string as_it_is(std::string_view text) { return std::string(text); }

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  json.key(key).begin_array();
  for (const std::string& text : texts) json.value(text);
  json.end_array();
}

void write_line(JsonWriter& json, const StoryLine& line) {
  json.begin_object();
  json.key("kind").value(line_kind_name(line.kind));
  json.key("mark").value(mark_text(line.mark));
  if (line.topic != StoryTopic::kNone) json.key("topic").value(topic_name(line.topic));
  json.key("text").value(story_sentence(line, as_it_is));
  write_texts(json, "names", line.names);
  json.key("numbers").begin_object();
  for (const StoryNumber& number : line.numbers) {
    json.key(number.name).begin_object();
    json.key("value").value(number.value);
    json.key("unit").value(number.unit);
    json.end_object();
  }
  json.end_object();
  json.key("evidence").begin_object();
  const StoryEvidence& e = line.evidence;
  if (!e.events.empty()) {
    json.key("events").begin_array();
    for (const int64_t uid : e.events) json.value(uid);
    json.end_array();
  }
  const auto text = [&json](std::string_view key, const std::string& value) {
    if (!value.empty()) json.key(key).value(value);
  };
  text("sheet", e.sheet);
  text("row", e.row);
  text("file", e.file);
  write_texts(json, "metrics", e.metrics);
  text("source", e.source);
  text("formula", e.formula);
  json.end_object();
  json.end_object();
}

void write_lines(JsonWriter& json, std::string_view key, const std::vector<StoryLine>& lines) {
  json.key(key).begin_array();
  for (const StoryLine& line : lines) write_line(json, line);
  json.end_array();
}

}  // namespace

std::string story_json(const RunStory& story) {
  JsonWriter json(true);
  json.begin_object();
  json.key("story").value(int64_t{1});
  json.key("title").value(story.title);
  json.key("selection").value(story.selection);
  json.key("has_timeline").value(story.has_timeline);
  json.key("total_ns").value(story.total.count);
  if (story.recorded.count > 0) json.key("recorded_ns").value(story.recorded.count);
  json.key("outside_phases_ns").value(story.between.count);
  json.key("more_phases").value(static_cast<int64_t>(story.more_phases));
  json.key("more_phases_ns").value(story.more_time.count);
  write_lines(json, "configuration", story.configuration);
  json.key("phases").begin_array();
  for (const StoryPhase& phase : story.phases) {
    json.begin_object();
    json.key("kind").value(phase_kind_name(phase.kind));
    json.key("name").value(phase.name);
    json.key("found_by").value(phase_evidence_name(phase.evidence));
    json.key("runs").value(static_cast<int64_t>(phase.runs));
    json.key("busy_ns").value(phase.busy.count);
    json.key("idle_ns").value(phase.idle.count);
    write_lines(json, "lines", phase.lines);
    json.key("events").begin_array();
    for (const StoryEvent& event : phase.events) {
      json.begin_object();
      json.key("at_ns").value(event.at.count);
      json.key("what");
      write_line(json, event.what);
      write_lines(json, "lines", event.lines);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.key("transitions").begin_array();
  for (const StoryTransition& transition : story.transitions) {
    json.begin_object();
    json.key("from").value(static_cast<int64_t>(transition.from));
    json.key("to").value(static_cast<int64_t>(transition.to));
    write_lines(json, "lines", transition.lines);
    json.end_object();
  }
  json.end_array();
  json.key("kernels").begin_array();
  for (const StoryKernel& kernel : story.kernels) {
    json.begin_object();
    json.key("name").value(kernel.name);
    write_lines(json, "lines", kernel.lines);
    json.end_object();
  }
  json.end_array();
  json.key("summary").begin_object();
  write_lines(json, "hotspots", story.hotspots);
  write_lines(json, "bottlenecks", story.bottlenecks);
  write_lines(json, "insights", story.insights);
  write_lines(json, "actions", story.actions);
  write_lines(json, "missing", story.missing);
  json.end_object();
  json.end_object();
  return json.take() + "\n";
}

}  // namespace fathom
