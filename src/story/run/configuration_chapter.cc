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
    StoryLine line(K::kFlaw, Mark::kMeasured, T::kNone,
                   {std::string(severity_name(flaw.severity)), std::string(flaw.text), file},
                   {{"count", static_cast<double>(found[i].count), ""}});
    line.evidence.sheet = "summary.json";
    line.evidence.row = std::string(flaw.id);
    out.push_back(std::move(line));
  }
}

// The work of all phases at a glance.
struct SeenWork {
  size_t kernels = 0;
  EventId first;
  EventId model;  // the outermost module that calls most of it; invalid: no module is known
};

SeenWork look_at_work(const EventStore& store, const WorkLabels& labels,
                      const PhaseProfiles& profiles) {
  SeenWork seen;
  std::map<StringId, size_t> roots;
  std::map<StringId, EventId> root_events;
  size_t asked = 0;
  for (const PhaseProfile& p : profiles.profiles) {
    for (const EventId e : p.work) {
      seen.kernels += store.kind(e) == EventKind::kKernel;
      if (!seen.first.valid()) seen.first = e;
      // A model calls many kernels: some of them tell.
      if (asked > 5000) continue;
      ++asked;
      const std::vector<EventId> chain = labels.modules(e);
      if (chain.empty()) continue;
      ++roots[store.name_id(chain.front())];
      root_events.try_emplace(store.name_id(chain.front()), chain.front());
    }
  }
  if (roots.empty()) return seen;
  const auto main = std::ranges::max_element(
      roots, [](const auto& a, const auto& b) { return a.second < b.second; });
  seen.model = root_events[main->first];
  return seen;
}

StoryLine recording_line(const RunFacts& facts, const SeenWork& seen) {
  const TimeBase& base = facts.assessment.base();
  StoryLine recording(K::kRecording, Mark::kMeasured, T::kNone, {facts.gpu, facts.software},
                      {{"kernels", static_cast<double>(seen.kernels), ""}});
  if (facts.has_timeline) {
    recording.numbers.push_back({"length", facts.assessment.length().micros(), "µs"});
    if (facts.assessment.cpu() == nullptr && facts.assessment.host() == nullptr)
      recording.numbers.push_back({"busy", 100 * ratio(base.mean_device().busy, base.wall()), "%"});
  }
  recording.evidence.sheet = "gpu_timeline";
  if (seen.first.valid()) recording.evidence.events = {facts.input.store.uid(seen.first)};
  return recording;
}

// Which GPU is told, and how busy the others are.
StoryLine gpus_line(const RunFacts& facts) {
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"device_1", "busy_1"}, {"device_2", "busy_2"}, {"device_3", "busy_3"}};
  const size_t listed = std::min(facts.gpus.size() - 1, std::size(kOthers));
  StoryLine line(K::kGpus, Mark::kMeasured, T::kNone, {},
                 {{"told", static_cast<double>(facts.gpus[0].device), ""},
                  {"count", static_cast<double>(facts.gpus.size()), ""}});
  for (size_t i = 1; i <= listed; ++i) {
    const auto& [device, busy] = kOthers[i - 1];
    line.numbers.push_back({device, static_cast<double>(facts.gpus[i].device), ""});
    line.numbers.push_back({busy, facts.gpus[i].busy.micros(), "µs"});
  }
  line.evidence.sheet = "gpu_timeline";
  line.evidence.formula = "union of the GPU's work; times of different GPUs are not added";
  return line;
}

StoryLine model_line(const EventStore& store, EventId root) {
  StoryLine model(K::kModel, Mark::kMeasured, T::kNone,
                  {header_text(WorkLabels::module_class(store.name(root)))});
  model.evidence.events = {store.uid(root)};
  return model;
}

StoryLine counter_file_line(const CounterJoin::File& file) {
  StoryLine line{file.refusal.empty() && file.doubt.empty() ? K::kCounterFile : K::kDoubtfulFile,
                 Mark::kMeasured,
                 T::kNone,
                 {header_text(file.file->name),
                  file.refusal.empty() ? header_text(file.doubt) : header_text(file.refusal)},
                 {{"launches", static_cast<double>(file.file->set.size()), ""},
                  {"joined", static_cast<double>(file.joined_rows), ""}},
                 {}};
  line.evidence.file = header_text(file.file->name);
  line.evidence.sheet = "kernel_counters";
  return line;
}

StoryLine clocks_line(const KernelClocks& clocks) {
  StoryLine line(K::kClocks, Mark::kMeasured, T::kNone);
  if (const auto clock = clocks.all.mean(0)) line.numbers.push_back({"sm_clock", *clock, "MHz"});
  if (const auto power = clocks.all.mean(2)) line.numbers.push_back({"power", *power, "W"});
  if (const auto capped = clocks.all.share(clocks.all.power_capped))
    line.numbers.push_back({"power_cap", 100 * *capped, "%"});
  if (const auto hot = clocks.all.share(clocks.all.too_hot))
    line.numbers.push_back({"thermal", 100 * *hot, "%"});
  line.evidence.sheet = "kernel_clocks";
  return line;
}

}  // namespace

std::vector<StoryLine> tell_configuration(const RunFacts& facts, const WorkLabels& labels,
                                          const PhaseProfiles& profiles) {
  constexpr size_t kMostLines = 6;  // before the flaws
  const SheetInput& input = facts.input;
  const EventStore& store = input.store;
  const SeenWork seen = look_at_work(store, labels, profiles);
  std::vector<StoryLine> out = {recording_line(facts, seen)};
  if (facts.gpus.size() > 1) out.push_back(gpus_line(facts));
  if (seen.model.valid()) out.push_back(model_line(store, seen.model));
  const CounterJoin* join = input.kernels.counters();
  if (join != nullptr && facts.has_timeline) {
    for (const CounterJoin::File& file : join->files())
      if (out.size() < kMostLines) out.push_back(counter_file_line(file));
  }
  add_flaws(store.diagnostics(), {}, out);
  if (join != nullptr)
    for (const CounterJoin::File& file : join->files())
      add_flaws(file.file->set.diagnostics(), header_text(file.file->name), out);
  if (const std::optional<KernelClocks> clocks = measure_clocks(input)) {
    StoryLine line = clocks_line(*clocks);
    if (!line.numbers.empty()) out.push_back(std::move(line));
  }
  return out;
}

}  // namespace fathom
