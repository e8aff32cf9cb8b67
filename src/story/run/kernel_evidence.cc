#include "story/run/kernel_evidence.h"

#include "base/utf8.h"

namespace fathom {

using K = StoryLineKind;

StoryEvidence evidence_of_kernel(const KernelContext& kernel, const EventStore& store,
                                 std::vector<std::string> metrics) {
  StoryEvidence e;
  e.events = {store.uid(kernel.first)};
  e.sheet = kernel.file.empty() ? "kernel_summary" : "kernels";
  e.row = cut_to_bytes(kernel.name, 200);
  e.file = kernel.file;
  e.metrics = std::move(metrics);
  return e;
}

std::optional<StoryLine> source_line(const KernelContext& kernel) {
  if (kernel.source.empty()) return {};
  StoryLine line(K::kSource, StoryMark::kCodeFact, StoryTopic::kNone,
                 {cut_to_bytes(kernel.source, 300), cut_to_bytes(kernel.code_facts, 300)});
  line.evidence.source = line.names[0];
  return line;
}

std::optional<StoryLine> untrusted_line(const KernelContext& kernel, const EventStore& store) {
  if (kernel.file.empty() || kernel.is_trusted) return {};
  return StoryLine(K::kUntrusted, StoryMark::kMeasured, StoryTopic::kNone, {kernel.file}, {},
                   evidence_of_kernel(kernel, store, {"duration"}));
}

StoryLine explained_line(const KernelContext& kernel, const TestedHypothesis& tested,
                         const EventStore& store) {
  const Hypothesis& h = *tested.hypothesis;
  std::vector<std::string> metrics;
  for (const std::string_view name : h.evidence) metrics.push_back(value_header(name));
  StoryLine line(K::kExplained, StoryMark::kConfirmed, StoryTopic::kNone,
                 {std::string(h.id), std::string(h.title), evidence_text(kernel, tested)}, {},
                 evidence_of_kernel(kernel, store, std::move(metrics)));
  return line;
}

StoryLine advice_line(const KernelContext& kernel, const TestedHypothesis& tested,
                      const EventStore& store) {
  StoryLine line = explained_line(kernel, tested, store);
  line.kind = K::kAdvice;
  line.names = {std::string(tested.hypothesis->id), std::string(tested.hypothesis->advice)};
  if (tested.best && *tested.best < 1) {
    line.numbers = {{"least", *tested.least_gain(), "×"}, {"most", *tested.most_gain(), "×"}};
    line.evidence.formula =
        "2 ÷ (1 + b) to 1 ÷ b, b: part of the kernel's time that is left at best";
  }
  return line;
}

}  // namespace fathom
