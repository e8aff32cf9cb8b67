// Tools that tell of one trace. Each answer ends with the next question worth asking.
#include <fmt/format.h>

#include "app/mcp/tools.h"
#include "base/count_text.h"
#include "base/screen_text.h"
#include "report/trace/run_story.h"
#include "report/trace/summary.h"
#include "session/counters.h"
#include "session/story.h"
#include "session/summarize.h"
#include "session/summarize_path.h"

namespace fathom {
namespace {

constexpr TerminalStyle kPlain = {false, false, 120};

std::string millis(Nanos time) { return fmt::format("{:.3f} ms", time.millis()); }

// "train.py:69 step, in aten::item"; empty: unknown.
std::string place_line(const Place& place) {
  std::string text;
  if (!place.file.empty())
    text =
        fmt::format("{}:{} {}", screen_safe(place.file), place.line, screen_safe(place.function));
  if (!place.module.empty()) text += (text.empty() ? "" : ", ") + screen_safe(place.module);
  if (!place.op.empty()) text += (text.empty() ? "" : ", ") + screen_safe(place.op);
  return text;
}

std::string saving_text(const Finding& finding) {
  return finding.saving_at_most.count <= 0
             ? "saves no wall time"
             : fmt::format("saves {} to {}", millis(finding.saving_at_least),
                           millis(finding.saving_at_most));
}

std::string finding_line(size_t number, const Finding& finding) {
  std::string line =
      fmt::format("{} [{}, {}] {}; {}", number, priority_name(finding.priority),
                  kind_name(finding.kind), screen_safe(finding.title), saving_text(finding));
  if (!finding.places.empty())
    if (const std::string place = place_line(finding.places.front()); !place.empty())
      line += fmt::format("\n    at {} ({:.0f} %)", place, finding.places.front().share * 100);
  return line + "\n";
}

std::string finding_text(const TraceModel& model, size_t number) {
  const Finding& f = model.findings()[number];
  std::string text = finding_line(number, f);
  const auto add = [&](std::string_view label, const std::string& value) {
    if (!value.empty()) text += fmt::format("{}: {}\n", label, screen_safe(value));
  };
  add("Issue", f.issue);
  text += fmt::format("Time: {}, {:.1f} % of the wall time; confidence {}\n", millis(f.time),
                      f.share * 100, confidence_name(f.confidence));
  if (f.efficiency) text += fmt::format("Efficiency: {:.1f} % of the limit\n", *f.efficiency * 100);
  add("Change the code", f.change_code);
  add("Improve the kernel", f.improve_kernel);
  add("Measure next", f.counters);
  for (const Place& place : f.places)
    if (const std::string line = place_line(place); !line.empty())
      text += fmt::format("Place: {} {}, {:.0f} %\n", line, millis(place.time), place.share * 100);
  if (f.unplaced > 0) text += fmt::format("No place known: {:.0f} %\n", f.unplaced * 100);
  for (const EvidenceOp& op : f.evidence) {
    text += fmt::format("Evidence: {} {} × {}, {}", screen_safe(op.op), screen_safe(op.shapes),
                        op.calls, millis(op.time));
    if (op.efficiency) text += fmt::format(", {:.1f} % of the limit", *op.efficiency * 100);
    for (const std::string& kernel : op.kernels) text += "\n    kernel " + screen_safe(kernel);
    text += "\n";
  }
  for (const Note& note : f.notes)
    text += fmt::format("Note: {}{}{}\n", note.before, screen_safe(note.name), note.after);
  for (const std::string& frame : f.call_stack) text += "Stack: " + screen_safe(frame) + "\n";
  add("Part of", f.under);
  return text;
}

// The question that leads on from a finding to its cause.
std::string next_after(const Finding& f) {
  switch (f.kind) {
    case FindingKind::kHostBound:
    case FindingKind::kSynchronization:
    case FindingKind::kHostWork:
    case FindingKind::kDataLoading:
    case FindingKind::kAllocation:
    case FindingKind::kFirstUse:
    case FindingKind::kQueuedWork:
      return "Next: query with sql 'idle-blame' for the host calls behind the idle time.\n";
    case FindingKind::kExposedCommunication:
    case FindingKind::kSmallCollectives:
      return "Next: query with sql 'collectives' for sizes and bandwidths.\n";
    default:
      break;
  }
  if (!f.evidence.empty() && !f.evidence.front().kernels.empty())
    return fmt::format("Next: kernel with kernel '{}' for how the hardware behaved.\n",
                       screen_safe(f.evidence.front().kernels.front()));
  return "Next: query with sql 'slow-ops' for the ops that lose the most time.\n";
}

Result<std::string> tell(TraceShelf& shelf, const ToolArguments& a, StorySelection selection) {
  const ShelvedTrace& shelved = *TRY(shelf.get(a.text("trace")));
  const OpenedTrace& opened = shelved.model->opened();
  StoryOptions options;
  options.analysis.code = opened.code.get();
  options.analysis.counters = &opened.counters;
  if (opened.samples) options.analysis.samples = &*opened.samples;
  if (opened.platform) options.analysis.platform = &*opened.platform;
  options.selection = std::move(selection);
  return story_text(TRY(tell_story(opened.trace, opened.scope, options)), kPlain, false);
}

}  // namespace

Result<std::string> open_tool(TraceShelf& shelf, const ToolArguments& a) {
  ModelArguments arguments;
  arguments.counters = a.list("counters");
  arguments.repository = a.text("repo");
  arguments.platform = a.text("platform");
  arguments.scope.steps = a.text("steps");
  arguments.reading.quiet = true;
  const TraceModel& model = *TRY(shelf.open(a.text("trace"), arguments))->model;
  const Summary summary = summarize(model.opened().trace, model.input());
  std::string text =
      fmt::format("{}: {}\n", screen_safe(a.text("trace")), summary_headline(summary));
  if (!summary.steps.empty()) text += counted(summary.steps.size(), "step") + "\n";
  if (summary.rank) text += fmt::format("rank {}\n", *summary.rank);
  for (const SummaryNote& note : summary_notes(summary, false)) text += note.text + "\n";
  return text + "Next: summary for where the time goes, or findings for what to change.\n";
}

Result<std::string> summary_tool(TraceShelf& shelf, const ToolArguments& a) {
  const TraceModel& model = *TRY(shelf.get(a.text("trace")))->model;
  std::optional<CodeCoverage> coverage;
  if (model.opened().code)
    coverage = code_coverage(model.store(), all_selected(model.input()), model.input().kernels);
  Summary summary = summarize(model.opened().trace, model.assessment(), model.findings(),
                              coverage ? &*coverage : nullptr);
  summary.path = summarize_path(model.input(), model.path());
  if (!model.opened().counters.empty()) summary.counters = summarize_counters(model.input());
  return summary_text(summary, kPlain) +
         (model.findings().empty()
              ? "Next: story for what happened when.\n"
              : "Next: findings with finding 0 for the cause of what costs the most.\n");
}

Result<std::string> findings_tool(TraceShelf& shelf, const ToolArguments& a) {
  const TraceModel& model = *TRY(shelf.get(a.text("trace")))->model;
  const std::vector<Finding>& findings = model.findings();
  if (const std::optional<int64_t> number = a.number("finding")) {
    if (*number < 0 || *number >= static_cast<int64_t>(findings.size()))
      return Error{
          fmt::format("there is no finding {}; there are {}, from 0", *number, findings.size())};
    const auto place = static_cast<size_t>(*number);
    return finding_text(model, place) + next_after(findings[place]);
  }
  if (findings.empty())
    return std::string("No finding.\nNext: summary lists what was not compared with a limit.\n");
  std::string text = fmt::format("Wall time {}\n", millis(model.assessment().length()));
  for (size_t i = 0; i < findings.size(); ++i) text += finding_line(i, findings[i]);
  return text + "Next: findings with finding N for its evidence, places and change.\n";
}

Result<std::string> story_tool(TraceShelf& shelf, const ToolArguments& a) {
  StorySelection selection;
  selection.phase = a.text("phase");
  selection.op = a.text("op");
  selection.module = a.text("module");
  return TRY(tell(shelf, a, selection)) +
         "Next: kernel for one of the kernels named, or findings for what to change.\n";
}

Result<std::string> kernel_tool(TraceShelf& shelf, const ToolArguments& a) {
  StorySelection selection;
  selection.kernel = a.text("kernel");
  return TRY(tell(shelf, a, selection)) +
         "Next: open again with counters or repo to fill in what is unknown.\n";
}

}  // namespace fathom
