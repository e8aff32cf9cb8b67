// Findings about a trace of the CPU alone: which ops take its time, and what runs between them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analyze/advice.h"
#include "analyze/analyses.h"
#include "analyze/finding_parts.h"
#include "analyze/priority.h"
#include "base/utf8.h"

namespace fathom::analyses {
namespace {

constexpr double kNoticeableOnCpu = 0.1;  // of the time of all ops
constexpr size_t kOpsTold = 5, kCpuEvidenceShown = 3;

EvidenceOp evidence_of_cpu(const SheetInput& input, const CpuOp& op) {
  EvidenceOp evidence;
  evidence.op = input.store.text(op.name);
  evidence.shapes = shapes_text(input, op.first);
  evidence.types = types_text(input, op.first);
  evidence.calls = op.calls;
  evidence.time = op.self;
  return evidence;
}

// Ops that only copy or convert.
bool is_copy(std::string_view op) {
  static constexpr std::array<std::string_view, 7> kCopies = {
      "aten::copy_", "aten::_to_copy",   "aten::to",     "aten::clone",
      "aten::cat",   "aten::contiguous", "aten::type_as"};
  return std::ranges::find(kCopies, op) != kCopies.end();
}

// All calls of an op, with the time outside of the calls below them.
void cover_calls(const SheetInput& input, StringId name, Finding& f) {
  const CallTree& tree = input.tree;
  for (CallId c(0); c.index < tree.size(); ++c.index) {
    const EventId event = tree.event(c);
    if (input.store.name_id(event) != name) continue;
    Nanos self = input.store.duration(event);
    for (CallId below(c.index + 1); below < tree.subtree_end(c); below = tree.subtree_end(below)) {
      self = self - input.store.duration(tree.event(below));
    }
    f.covered.push_back({event, {std::max<int64_t>(0, self.count)}});
  }
}

// No more can be saved than it takes now.
void finish(const Assessment& a, Finding& f) {
  f.share = ratio(f.time, a.length());
  f.saving_at_most = f.time;
  f.confidence = Confidence::kMedium;
  advise(a, f, {});
  rate_part_of_whole(f);
}

std::string count_text(size_t count, std::string_view word) {
  return fmt::format("{} {}{}", with_thousands(static_cast<int64_t>(count)), word,
                     count == 1 ? "" : "s");
}

std::vector<Finding> long_ops(const Assessment& a) {
  const CpuOps& ops = *a.cpu();
  std::vector<Finding> findings;
  for (const CpuOp& op : ops.by_name()) {
    const double share = ratio(op.self, ops.self());
    if (share < kNoticeableOnCpu || findings.size() == kOpsTold) break;
    if (is_copy(a.input().store.text(op.name))) continue;  // told together
    Finding f;
    f.kind = FindingKind::kCpuOp;
    f.subject = cut_to_bytes(a.input().store.text(op.name), 512);
    f.time = op.self;
    f.title = fmt::format("{} takes {} of the CPU time of all ops", f.subject, percent_text(share));
    f.issue = fmt::format("{}, {} each on average, without the ops that it calls.",
                          count_text(op.calls, "call"),
                          micros_text({op.self.count / static_cast<int64_t>(op.calls)}));
    finish(a, f);
    for (const CpuOp& with_args : ops.by_args()) {
      if (with_args.name != op.name || f.evidence.size() == kCpuEvidenceShown) continue;
      f.evidence.push_back(evidence_of_cpu(a.input(), with_args));
    }
    f.call_stack = call_stack_of(a.input(), op.first);
    cover_calls(a.input(), op.name, f);
    findings.push_back(std::move(f));
  }
  return findings;
}

std::vector<Finding> dispatch(const Assessment& a) {
  constexpr size_t kMany = 1000;
  const CpuOps& ops = *a.cpu();
  const double share = ratio(ops.short_self(), ops.self());
  if (ops.short_calls() < kMany || share < 0.25) return {};
  Finding f;
  f.kind = FindingKind::kCpuDispatch;
  f.subject = "ops under 5 µs";
  f.time = ops.short_self();
  f.title = "Dispatch-bound: much of the CPU time is in very short ops";
  f.issue =
      fmt::format("{} of {} take less than {}, {} of the time of all ops.",
                  with_thousands(static_cast<int64_t>(ops.short_calls())),
                  count_text(ops.calls(), "op"), micros_text(CpuOps::kShort), percent_text(share));
  finish(a, f);
  return {f};
}

std::vector<Finding> between_ops(const Assessment& a) {
  const auto& thread = a.cpu()->busiest();
  if (!thread || ratio(thread->between, thread->span) < 0.25) return {};
  Finding f;
  f.kind = FindingKind::kCpuBetweenOps;
  f.subject = "time between ops";
  f.time = thread->between;
  f.title = fmt::format("No op runs for {} of the time: Python or data loading",
                        percent_text(ratio(thread->between, thread->span)));
  f.issue = fmt::format("The thread with the most op time runs no op for {} of {}.",
                        micros_text(thread->between), micros_text(thread->span));
  finish(a, f);
  return {f};
}

std::vector<Finding> copies(const Assessment& a) {
  const CpuOps& ops = *a.cpu();
  Finding f;
  size_t calls = 0;
  for (const CpuOp& op : ops.by_args()) {
    if (!is_copy(a.input().store.text(op.name))) continue;
    f.time += op.self;
    calls += op.calls;
    f.covered.push_back({op.first, op.self});
    if (f.evidence.size() < kCpuEvidenceShown) f.evidence.push_back(evidence_of_cpu(a.input(), op));
  }
  const double share = ratio(f.time, ops.self());
  if (share < kNoticeableOnCpu) return {};
  f.kind = FindingKind::kCpuCopies;
  f.subject = "copies and conversions";
  f.title = "Copies and dtype conversions take a large part of the CPU time";
  f.issue = fmt::format("{} of copies, conversions and concatenations take {}, {} of all ops.",
                        count_text(calls, "call"), micros_text(f.time), percent_text(share));
  finish(a, f);
  return {f};
}

}  // namespace

std::vector<Finding> cpu_time(const Assessment& a) {
  if (a.cpu() == nullptr) return {};
  std::vector<Finding> findings;
  for (const auto analysis : {long_ops, dispatch, between_ops, copies}) {
    for (Finding& finding : analysis(a)) findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace fathom::analyses
