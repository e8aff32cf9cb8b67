#include "report/scan/story_json.h"

namespace fathom {
namespace {

void optional_number(FactWriter& w, std::string_view key, const std::optional<double>& value) {
  w.json().key(key);
  value ? w.json().value(*value) : w.json().null();
}

std::string_view open_end_name(OpenEnd::Kind kind) {
  switch (kind) {
    case OpenEnd::Kind::kUnresolvedAccess:
      return "unresolved_access";
    case OpenEnd::Kind::kUnresolvedExtent:
      return "unresolved_extent";
    case OpenEnd::Kind::kTileLoads:
      return "bulk_copies";
    case OpenEnd::Kind::kByKind:
      return "by_kind";
    case OpenEnd::Kind::kAtomics:
      return "atomics";
    case OpenEnd::Kind::kUnknownRounds:
      return "trip_count";
    case OpenEnd::Kind::kTooWide:
      return "too_wide";
  }
  return "";
}

void write_remark(FactWriter& w, const StepRemark& remark) {
  w.optional_text("words", WordTable::built_in().text(remark.words));
  w.optional_text("code", remark.code);
  w.optional_text("value", remark.value);
  w.json().key("derived").value(remark.derived);
  if (remark.at.line != 0) w.place(remark.at);
  w.certainty(remark.certainty);
}

void write_step(FactWriter& w, const StoryStep& step) {
  w.optional_text("words", WordTable::built_in().text(step.words));
  w.texts("code", step.code);
  if (step.at.line != 0) {
    w.place(step.at);
    if (step.line_last > step.at.line) w.count("line_last", step.line_last);
  }
  w.certainty(step.certainty);
  if (!step.remarks.empty()) w.lines("remarks", step.remarks, write_remark);
  if (!step.inside.empty()) w.lines("inside", step.inside, write_step);
}

void write_steps(FactWriter& w, std::string_view key, const std::vector<StoryStep>& steps) {
  w.lines(key, steps, write_step);
}

void write_body(FactWriter& w, std::string_view key, const std::optional<DeviceStory>& body) {
  w.json().key(key);
  if (!body) {
    w.json().null();
    return;
  }
  w.json().begin_object();
  w.place(body->at);
  w.count("line_last", body->line_last);
  write_steps(w, "steps", body->steps);
  w.count("left_out", body->left_out);
  w.json().end_object();
}

// What the program around it says of how often it runs and what runs beside it.
void write_integration(FactWriter& w, const Story& story) {
  write_steps(w, "how_often", story.how_often);
  w.json().key("in_forward").value(story.in_forward);
  write_steps(w, "only_where", story.only_where);
  write_steps(w, "overlapped", story.overlapped);
}

void write_estimate(FactWriter& w, const Estimate& estimate) {
  w.text("name", estimate.name);
  w.optional_text("unit", estimate.unit);
  optional_number(w, "low", estimate.low);
  optional_number(w, "high", estimate.high);
  w.text("formula", estimate.formula);
}

void write_dimensions(FactWriter& w, std::string_view key,
                      const std::vector<ExpectedLaunch::Dimension>& dimensions) {
  w.lines(key, dimensions, [](FactWriter& line, const ExpectedLaunch::Dimension& dimension) {
    line.text("code", dimension.text);
    optional_number(line, "value", dimension.value);
  });
}

void write_launch(FactWriter& w, const std::optional<ExpectedLaunch>& launch) {
  w.json().key("launch");
  if (!launch) {
    w.json().null();
    return;
  }
  w.json().begin_object();
  write_dimensions(w, "grid", launch->grid);
  write_dimensions(w, "block", launch->block);
  optional_number(w, "blocks", launch->blocks);
  optional_number(w, "threads", launch->threads);
  optional_number(w, "shared_bytes", launch->shared_bytes);
  w.json().end_object();
}

void write_expected(FactWriter& w, const Expectation& expected) {
  w.json().key("expected").begin_object();
  w.json().key("model");
  if (expected.model) {
    w.json().begin_object();
    w.text("id", expected.model->id);
    w.text("title", expected.model->title);
    w.text("because", expected.model->because);
    w.certainty(expected.model->certainty);
    w.json().end_object();
  } else {
    w.json().null();
  }
  w.optional_text("no_model", expected.model ? "" : expected.no_model);
  write_launch(w, expected.launch);
  w.lines("traffic", expected.traffic, write_estimate);
  w.lines("counters", expected.counters, write_estimate);
  w.optional_text("bound_by", bottleneck_name(expected.side));
  w.texts("stalls", expected.stalls);
  w.texts("missing", expected.missing);
  w.texts("remarks", expected.remarks);
  w.texts("flags", expected.flags);
  w.lines("lower_bound_because", expected.open_ends, [](FactWriter& line, const OpenEnd& end) {
    line.text("kind", open_end_name(end.kind));
    line.optional_text("what", end.what);
    if (end.at.line != 0) line.place(end.at);
  });
  w.json().end_object();
}

}  // namespace

void write_told_for(FactWriter& w, const Stories& stories) {
  w.json().key("told_for").begin_object();
  w.optional_text("platform", stories.platform);
  w.lines("parameters", stories.parameters.given(), [](FactWriter& line, const auto& parameter) {
    line.text("name", parameter.first);
    line.text("value", parameter.second);
  });
  w.optional_text("kernels", stories.asked_for);
  w.json().end_object();
}

void write_story(FactWriter& w, const KernelStory& told) {
  const Story& story = told.story;
  if (story.detail == StoryDetail::kNotTold) {
    w.json().key("story").null();
    write_expected(w, told.expected);
    w.json().key("could_be_better").begin_array().end_array();
    return;
  }
  w.json().key("story").begin_object();
  w.text("told_from", detail_name(story.detail));
  write_steps(w, "call", story.call);
  w.json().key("launch").begin_object();
  write_steps(w, "steps", story.launch.steps);
  w.count("left_out", story.launch.left_out);
  w.json().end_object();
  write_body(w, "on_gpu", story.body);
  write_integration(w, story);
  w.json().end_object();
  write_expected(w, told.expected);
  w.lines("could_be_better", told.notes, [](FactWriter& line, const KernelNote& note) {
    line.text("text", note.text);
    line.place(note.at);
    line.text("basis", note.basis);
  });
}

void write_story(FactWriter& w, const HostStory& told) {
  const Story& story = told.story;
  w.json().key("story").begin_object();
  w.text("told_from", detail_name(story.detail));
  write_steps(w, "call", story.call);
  write_body(w, "on_cpu", story.body);
  write_integration(w, story);
  w.json().end_object();
  w.json().key("expected");
  if (told.expected.estimates.empty()) {
    w.json().null();
    return;
  }
  w.json().begin_object();
  w.text("title", told.expected.title);
  w.lines("estimates", told.expected.estimates, write_estimate);
  w.texts("missing", told.expected.missing);
  w.json().end_object();
}

}  // namespace fathom
