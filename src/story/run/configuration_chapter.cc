// What was recorded, on which GPU, with what.
#include <algorithm>
#include <map>

#include "base/utf8.h"
#include "sheets/kernel_clocks.h"
#include "story/run/chapters.h"

namespace fathom {

using K = StoryLineKind;
using Mark = StoryMark;
using T = StoryTopic;

namespace {

std::string header_text(std::string_view text) { return cut_to_bytes(text, 400); }

// What was wrong with an input, the worst first: what a story lacks may be there.
void add_flaws(const Diagnostics& diagnostics, const std::string& file,
               std::vector<StoryLine>& out) {
  constexpr size_t kMostFlaws = 3;
  std::vector<Diagnostic> found = diagnostics.all();
  std::erase_if(found, [](const Diagnostic& d) {
    // Work without a launch is told as missing.
    return describe(d.flaw).severity == Severity::kInfo || d.flaw == Flaw::kUnlinkedGpuEvent;
  });
  std::ranges::stable_sort(found, std::greater{},
                           [](const Diagnostic& d) { return describe(d.flaw).severity; });
  for (size_t i = 0; i < std::min(found.size(), kMostFlaws); ++i) {
    const FlawText& flaw = describe(found[i].flaw);
    StoryLine line{K::kFlaw,
                   Mark::kMeasured,
                   T::kNone,
                   {std::string(severity_name(flaw.severity)), std::string(flaw.text), file},
                   {{"count", static_cast<double>(found[i].count), ""}},
                   {}};
    line.evidence.sheet = "summary.json";
    line.evidence.row = std::string(flaw.id);
    out.push_back(std::move(line));
  }
}

}  // namespace

std::vector<StoryLine> tell_configuration(const RunFacts& facts, const WorkLabels& labels,
                                          const PhaseProfiles& profiles) {
  const SheetInput& input = facts.input;
  const EventStore& store = input.store;
  std::vector<StoryLine> out;
  size_t kernels = 0;
  EventId first;
  std::map<StringId, size_t> roots;
  std::map<StringId, EventId> root_events;
  size_t asked = 0;
  for (const PhaseProfile& p : profiles.profiles) {
    for (const EventId e : p.work) {
      kernels += store.kind(e) == EventKind::kKernel;
      if (!first.valid()) first = e;
      // A model calls many kernels: some of them tell.
      if (asked > 5000) continue;
      ++asked;
      const std::vector<EventId> chain = labels.modules(e);
      if (chain.empty()) continue;
      ++roots[store.name_id(chain.front())];
      root_events.try_emplace(store.name_id(chain.front()), chain.front());
    }
  }
  const TimeBase& base = facts.assessment.base();
  StoryLine recording{K::kRecording,
                      Mark::kMeasured,
                      T::kNone,
                      {facts.gpu, facts.software},
                      {{"kernels", static_cast<double>(kernels), ""}},
                      {}};
  if (facts.has_timeline) {
    recording.numbers.push_back({"length", facts.assessment.length().micros(), "µs"});
    if (facts.assessment.cpu() == nullptr && facts.assessment.host() == nullptr)
      recording.numbers.push_back({"busy", 100 * ratio(base.mean_device().busy, base.wall()), "%"});
  }
  recording.evidence.sheet = "gpu_timeline";
  if (first.valid()) recording.evidence.events = {store.uid(first)};
  out.push_back(std::move(recording));
  if (facts.gpus.size() > 1) {
    constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
        {"device_1", "busy_1"}, {"device_2", "busy_2"}, {"device_3", "busy_3"}};
    const size_t listed = std::min(facts.gpus.size() - 1, std::size(kOthers));
    StoryLine line{K::kGpus,
                   Mark::kMeasured,
                   T::kNone,
                   {},
                   {{"told", static_cast<double>(facts.gpus[0].device), ""},
                    {"count", static_cast<double>(facts.gpus.size()), ""}},
                   {}};
    for (size_t i = 1; i <= listed; ++i) {
      const auto& [device, busy] = kOthers[i - 1];
      line.numbers.push_back({device, static_cast<double>(facts.gpus[i].device), ""});
      line.numbers.push_back({busy, facts.gpus[i].busy.micros(), "µs"});
    }
    line.evidence.sheet = "gpu_timeline";
    line.evidence.formula = "union of the GPU's work; times of different GPUs are not added";
    out.push_back(std::move(line));
  }
  if (!roots.empty()) {
    const auto main = std::ranges::max_element(
        roots, [](const auto& a, const auto& b) { return a.second < b.second; });
    const EventId root = root_events[main->first];
    StoryLine model{K::kModel, Mark::kMeasured,
                    T::kNone,  {header_text(WorkLabels::module_class(store.name(root)))},
                    {},        {}};
    model.evidence.events = {store.uid(root)};
    out.push_back(std::move(model));
  }
  if (const CounterJoin* join = input.kernels.counters(); join != nullptr && facts.has_timeline) {
    for (const CounterJoin::File& file : join->files()) {
      StoryLine line{
          file.refusal.empty() && file.doubt.empty() ? K::kCounterFile : K::kDoubtfulFile,
          Mark::kMeasured,
          T::kNone,
          {header_text(file.file->name),
           file.refusal.empty() ? header_text(file.doubt) : header_text(file.refusal)},
          {{"launches", static_cast<double>(file.file->set.size()), ""},
           {"joined", static_cast<double>(file.joined_rows), ""}},
          {}};
      line.evidence.file = header_text(file.file->name);
      line.evidence.sheet = "kernel_counters";
      if (out.size() < 6) out.push_back(std::move(line));
    }
  }
  add_flaws(store.diagnostics(), {}, out);
  if (const CounterJoin* join = input.kernels.counters())
    for (const CounterJoin::File& file : join->files())
      add_flaws(file.file->set.diagnostics(), header_text(file.file->name), out);
  if (const std::optional<KernelClocks> clocks = measure_clocks(input)) {
    StoryLine line{K::kClocks, Mark::kMeasured, T::kNone, {}, {}, {}};
    if (const auto clock = clocks->all.mean(0)) line.numbers.push_back({"sm_clock", *clock, "MHz"});
    if (const auto power = clocks->all.mean(2)) line.numbers.push_back({"power", *power, "W"});
    if (const auto capped = clocks->all.share(clocks->all.power_capped))
      line.numbers.push_back({"power_cap", 100 * *capped, "%"});
    if (const auto hot = clocks->all.share(clocks->all.too_hot))
      line.numbers.push_back({"thermal", 100 * *hot, "%"});
    line.evidence.sheet = "kernel_clocks";
    if (!line.numbers.empty()) out.push_back(std::move(line));
  }
  return out;
}

}  // namespace fathom
