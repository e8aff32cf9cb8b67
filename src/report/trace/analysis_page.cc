#include "report/trace/analysis_page.h"

#include <algorithm>
#include <map>

#include "analyze/finding_parts.h"
#include "analyze/place.h"
#include "base/json_writer.h"
#include "report/page/page_hardware.h"
#include "report/page/page_tables.h"
#include "report/page/page_tree.h"
#include "report/trace/findings_markdown.h"
#include "report/trace/places.h"
#include "report/trace/run_story.h"
#include "report/trace/wall_time.h"

namespace fathom {
namespace {

constexpr size_t kPageOps = 2000, kPageFindings = 200, kCoveredShown = 2000, kSpansShown = 20'000;
constexpr size_t kPageSummaryNames = 500, kRecommended = 5, kLongText = 2000;

std::string page_name(std::string_view text) { return page_text(text); }

// Names of a trace may be long and many; summary.json has them whole.
Summary shown_summary(const Summary& summary) {
  Summary out = summary;
  const auto shorten = [](auto& list) {
    if (list.size() > kPageSummaryNames) list.resize(kPageSummaryNames);
    for (auto& entry : list) entry.name = page_text(entry.name);
  };
  shorten(out.ops);
  if (out.cpu) shorten(out.cpu->ops);
  if (out.host) shorten(out.host->ranges);
  if (out.steps.size() > kPageSummaryNames) out.steps.resize(kPageSummaryNames);
  for (std::string& name : out.steps) name = page_text(name);
  return out;
}

void write_number(JsonWriter& json, std::string_view key, const std::optional<double>& value) {
  json.key(key);
  value ? json.value(*value) : json.null();
}

void write_lines(JsonWriter& json, std::string_view key, const std::vector<std::string>& lines) {
  json.key(key).begin_array();
  for (const std::string& line : lines) json.value(page_text(line));
  json.end_array();
}

void write_covered(JsonWriter& json, const Finding& f, const PageTimeline& timeline) {
  std::vector<CoveredEvent> covered;
  for (const CoveredEvent& c : f.covered)
    if (c.event.valid() && timeline.number[c.event.index] != 0) covered.push_back(c);
  const auto longer = [](const CoveredEvent& x, const CoveredEvent& y) {
    return std::tuple(y.time, x.event) < std::tuple(x.time, y.event);
  };
  const size_t shown = std::min(covered.size(), kCoveredShown);
  const auto end = covered.begin() + static_cast<std::ptrdiff_t>(shown);
  if (end != covered.end()) std::ranges::nth_element(covered, end, longer);
  std::sort(covered.begin(), end, longer);
  json.key("events").value(static_cast<int64_t>(f.covered.size()));
  json.key("covered").begin_array();
  for (size_t i = 0; i < shown; ++i)
    json.value(static_cast<int64_t>(timeline.number[covered[i].event.index] - 1));
  json.end_array();
}

void write_evidence(JsonWriter& json, const std::vector<EvidenceOp>& evidence) {
  constexpr size_t kEvidenceShown = 20;
  json.key("evidence").begin_array();
  for (size_t i = 0; i < std::min(evidence.size(), kEvidenceShown); ++i) {
    const EvidenceOp& op = evidence[i];
    json.begin_object().key("op").value(page_text(op.op)).key("shapes").value(page_text(op.shapes));
    json.key("calls").value(static_cast<int64_t>(op.calls));
    json.key("time_ms").raw(exact_decimal(op.time.count, 6));
    write_number(json, "efficiency", op.efficiency);
    json.key("bound").value(op.bound);
    write_lines(json, "kernels", op.kernels);
    write_lines(json, "sources", op.sources);
    json.end_object();
  }
  json.end_array();
}

void write_finding(JsonWriter& json, const Assessment& a, const Finding& f,
                   const PageTimeline& timeline) {
  const Nanos length = a.length();
  json.begin_object();
  json.key("kind").value(kind_name(f.kind)).key("priority").value(priority_name(f.priority));
  json.key("priority_reason").value(f.priority_reason);
  json.key("confidence").value(confidence_name(f.confidence));
  json.key("title").value(page_text(f.title)).key("category").value(f.category);
  json.key("issue").value(page_text(f.issue, kLongText));
  json.key("time_ms").raw(exact_decimal(f.time.count, 6));
  json.key("share").value(f.share);
  json.key("saving_percent").begin_array();
  json.value(100 * ratio(f.saving_at_least, length)).value(100 * ratio(f.saving_at_most, length));
  json.end_array().key("saving_ms").begin_array();
  json.raw(exact_decimal(f.saving_at_least.count, 6)).raw(exact_decimal(f.saving_at_most.count, 6));
  json.end_array();
  json.key("saving").value(saving_text(f, a));
  json.key("change").value(page_text(f.change_code, kLongText));
  json.key("kernel_change").value(page_text(f.improve_kernel, kLongText));
  json.key("counters").value(page_text(f.counters, kLongText));
  write_evidence(json, f.evidence);
  write_lines(json, "stack", f.call_stack);
  std::vector<std::string> places;
  for (const Place& place : f.places) places.push_back(place_text(place));
  write_lines(json, "places", places);
  json.key("unplaced").value(f.unplaced);
  json.key("notes").begin_array();
  for (const Note& note : f.notes)
    json.value(page_text(note.before + page_text(note.name) + note.after, kLongText));
  if (const std::string with = goes_with_text(f); !with.empty()) json.value(with);
  json.end_array();
  json.key("under").value(page_text(f.under));
  write_covered(json, f, timeline);
  json.end_object();
}

void write_ops(JsonWriter& json, const Assessment& a) {
  json.begin_array();
  for (size_t i = 0; i < std::min(a.ops().size(), kPageOps); ++i) {
    const AssessedOp& op = a.ops()[i];
    const EvidenceOp known = evidence_of(a, op);
    json.begin_object().key("name").value(page_text(known.op));
    json.key("category").value(op.category).key("colour").value(work_colour_of(op.category));
    json.key("shapes").value(page_text(known.shapes)).key("types").value(page_text(known.types));
    json.key("calls").value(static_cast<int64_t>(known.calls));
    json.key("time_ms").raw(exact_decimal(known.time.count, 6));
    json.key("share").value(op.share);
    write_number(json, "efficiency", op.efficiency);
    write_number(json, "of_peak", op.of_peak);
    json.key("bound").value(known.bound).key("rate").value(op.rate_name);
    json.key("no_limit").value(op.no_limit);
    if (op.group->cost) {
      json.key("flops").value(op.group->cost->flops).key("bytes").value(op.group->cost->bytes);
      json.key("assumption").value(op.group->cost->assumption);
    }
    write_lines(json, "kernels", known.kernels);
    write_lines(json, "sources", known.sources);
    json.end_object();
  }
  json.end_array();
}

void write_limits(JsonWriter& json, const Assessment& a) {
  if (a.platform() == nullptr) return;
  const Platform& platform = *a.platform();
  json.key("limits").begin_object().key("platform").value(platform.name);
  const auto write = [&json](std::string_view name, const Rate& rate) {
    const std::optional<Limit> limit = limit_of(rate);
    if (!limit || !(limit->rate > 0)) return;
    json.begin_object().key("name").value(name).key("rate").value(limit->rate);
    json.key("achievable").value(limit->achievable);
    json.key("source").value(source_kind_name(limit->source.kind)).end_object();
  };
  json.key("memory").begin_array();
  write("memory", platform.memory_bandwidth);
  json.end_array().key("compute").begin_array();
  for (const ComputeSpec& spec : platform.specs) write(spec.name, spec.rate);
  json.end_array().end_object();
}

void write_story_node(JsonWriter& json, const StoryNode& node) {
  json.begin_object().key("text").value(page_text(node.text, kLongText));
  json.key("mark").value(node.mark);
  json.key("evidence").value(page_text(node.evidence, kLongText));
  json.key("below").begin_array();
  for (const StoryNode& below : node.below) write_story_node(json, below);
  json.end_array().end_object();
}

void write_story(JsonWriter& json, const RunStory& story) {
  json.key("story").begin_array();
  for (const StorySection& section : story_outline(story, page_name, true)) {
    json.begin_object().key("title").value(page_text(section.title));
    json.key("after").value(page_text(section.after)).key("nodes").begin_array();
    for (const StoryNode& node : section.nodes) write_story_node(json, node);
    json.end_array().end_object();
  }
  json.end_array();
}

// Times from the timeline's begin.
void write_spans(JsonWriter& json, const AnalysisView& v, const PageTimeline& timeline) {
  const EventStore& store = v.assessment.input().store;
  const auto at = [&](Nanos time) { json.value((time - timeline.begin).count); };
  json.key("steps").begin_array();
  size_t shown = 0;
  for (const BaseStep& step : v.assessment.base().steps) {
    if (!step.annotation.valid() || shown++ == kSpansShown) continue;
    json.begin_array().value(page_text(store.name(step.annotation), 80));
    at(step.begin);
    at(step.end);
    json.end_array();
  }
  json.end_array().key("phases").begin_array();
  for (const StoryPhase& phase : v.story.phases) {
    if (!v.story.has_timeline || phase.kind == PhaseKind::kOther) continue;
    json.begin_object().key("name");
    json.value(page_text(phase.name.empty() ? phase_kind_name(phase.kind) : phase.name, 80));
    json.key("kind").value(phase_kind_name(phase.kind)).key("spans").begin_array();
    for (size_t i = 0; i < std::min(phase.spans.size(), kSpansShown); ++i) {
      at(phase.spans[i].begin);
      at(phase.spans[i].end);
    }
    json.end_array().end_object();
  }
  json.end_array();
  const TimeBase& base = v.assessment.base();
  json.key("wall").begin_array();
  at(base.begin());
  at(base.end());
  json.end_array();
}

}  // namespace

AnalysisPageParts analysis_page_parts(const Assessment& a, const std::vector<Finding>& findings,
                                      const CriticalPath& path, std::span<const Table> sheets,
                                      const std::vector<KernelContext>& kernels) {
  AnalysisPageParts parts;
  parts.timeline = page_timeline(a, &path);
  parts.trees = page_trees(a);
  parts.hardware = page_hardware(a.input(), kernels);
  JsonWriter found(false), ops(false);
  found.begin_array();
  for (size_t i = 0; i < std::min(findings.size(), kPageFindings); ++i)
    write_finding(found, a, findings[i], parts.timeline);
  parts.findings = found.end_array().take();
  write_ops(ops, a);
  parts.ops = ops.take();
  for (const Table& sheet : sheets) {
    JsonWriter table(false);
    write_page_table(table, sheet);
    parts.tables += (parts.tables.empty() ? "" : ",") + table.take();
  }
  return parts;
}

std::string analysis_page(const AnalysisView& v, AnalysisPageParts parts,
                          std::span<const Table> more_sheets) {
  JsonWriter json(false);
  json.begin_object().key("kind").value("analyze").key("version").value(int64_t{1});
  json.key("title").value(page_text(v.summary.trace));
  json.key("program").value("fathom " FATHOM_VERSION);
  json.key("headline").value(summary_headline(v.summary));
  json.key("notes").begin_array();
  for (const SummaryNote& note : summary_notes(v.summary, false)) {
    json.begin_object().key("text").value(page_text(note.text, kLongText));
    json.key("warning").value(note.is_warning).end_object();
  }
  json.end_array();
  json.key("wall_text").value(page_text(time_base_text(v.summary)));
  json.key("summary").raw(summary_json(shown_summary(v.summary)));
  json.key("findings").raw(parts.findings);
  json.key("findings_left_out")
      .value(static_cast<int64_t>(v.findings.size() - std::min(v.findings.size(), kPageFindings)));
  json.key("recommended").begin_array();
  size_t recommended = 0;
  for (size_t i = 0; i < std::min(v.findings.size(), kPageFindings); ++i) {
    const Finding& f = v.findings[i];
    if (f.priority == Priority::kLow || !f.under.empty() || recommended == kRecommended) continue;
    ++recommended;
    json.value(static_cast<int64_t>(i));
  }
  json.end_array();
  write_story(json, v.story);
  write_spans(json, v, parts.timeline);
  json.key("ops").raw(parts.ops);
  write_limits(json, v.assessment);
  if (!parts.hardware.empty()) json.key("hardware").raw(parts.hardware);
  json.key("trees").raw(parts.trees);
  json.key("tables").begin_array();
  if (!parts.tables.empty()) json.raw(parts.tables);
  for (const Table& sheet : more_sheets) write_page_table(json, sheet);
  json.end_array();
  json.key("timeline").raw(parts.timeline.directory);
  json.end_object();
  return html_page({json.take(), std::move(parts.timeline.blocks)});
}

}  // namespace fathom
