#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "golden/dump.h"
#include "tree/forward_backward.h"
#include "tree/steps.h"

namespace fathom::test {
namespace {

constexpr size_t kShownChains = 4;
constexpr size_t kShownFrames = 4;
constexpr size_t kShownEvents = 5;

// The launch and the calls around it by name, innermost first.
std::string chain_of(const EventStore& store, const CallTree& tree, EventId gpu_event) {
  std::string chain;
  for (CallId call = tree.launch(gpu_event); call.valid(); call = tree.parent(call)) {
    if (!chain.empty()) chain += " < ";
    chain += store.name(tree.event(call));
  }
  return chain;
}

struct KernelName {
  std::vector<EventId> events;  // in the order of the launches
  Nanos time;
  std::map<std::string, int64_t> chains;
  std::set<CallId> launches;
};

std::string show_first(const EventStore& store, const CallTree& tree, EventId gpu_event) {
  std::string out = fmt::format("  first: {}", position(store, gpu_event));
  const CallId launch = tree.launch(gpu_event);
  for (CallId call = launch; call.valid(); call = tree.parent(call))
    out += fmt::format(" < {}", position(store, tree.event(call)));
  out += '\n';
  size_t depth = 0;
  for (EventId frame = tree.frame(launch); frame.valid(); frame = tree.parent_frame(frame)) {
    if (depth++ < kShownFrames) out += fmt::format("    in {}\n", cut_name(store.name(frame)));
  }
  if (depth > kShownFrames) out += fmt::format("    and {} frames more\n", depth - kShownFrames);
  return out;
}

std::string show_kernel(const EventStore& store, const CallTree& tree, const KernelName& kernel) {
  std::string out = fmt::format("\n{}\n  {} events, {} us, {} launches, {} chains of calls\n",
                                cut_name(store.name(kernel.events.front())), kernel.events.size(),
                                exact_decimal(kernel.time.count, 3), kernel.launches.size(),
                                kernel.chains.size());
  std::vector<std::pair<std::string, int64_t>> chains(kernel.chains.begin(), kernel.chains.end());
  std::ranges::stable_sort(chains, std::ranges::greater{}, [](const auto& c) { return c.second; });
  for (size_t i = 0; i < std::min(chains.size(), kShownChains); ++i)
    out += fmt::format("  {:>5} x {}\n", chains[i].second, cut_name(chains[i].first, 300));
  return out + show_first(store, tree, kernel.events.front());
}

std::string show_kernels(const EventStore& store, const CallTree& tree) {
  std::map<StringId, size_t> place;  // of the name, by its first launch
  std::vector<KernelName> kernels;
  for (EventId event : tree.linked()) {
    const auto [found, is_new] = place.try_emplace(store.name_id(event), kernels.size());
    if (is_new) kernels.emplace_back();
    KernelName& kernel = kernels[found->second];
    kernel.events.push_back(event);
    kernel.time += store.duration(event);
    ++kernel.chains[chain_of(store, tree, event)];
    kernel.launches.insert(tree.launch(event));
  }
  std::string out = fmt::format("\nlaunched: {} names of GPU work\n", kernels.size());
  for (const KernelName& kernel : kernels) out += show_kernel(store, tree, kernel);
  return out;
}

std::string show_totals(const EventStore& store, const CallTree& tree) {
  size_t roots = 0, deepest = 0, in_frames = 0;
  std::vector<size_t> depth(tree.size());
  Digest digest;
  for (size_t i = 0; i < tree.size(); ++i) {
    const CallId call(i), parent = tree.parent(call);
    roots += !parent.valid();
    depth[i] = parent.valid() ? depth[parent.index] + 1 : 1;
    deepest = std::max(deepest, depth[i]);
    in_frames += tree.frame(call).valid();
    digest.add(position(store, tree.event(call))).add(int64_t{parent.index});
    digest.add(int64_t{tree.subtree_end(call).index}).add(position(store, tree.frame(call)));
  }
  Digest links;
  for (EventId event : tree.linked())
    links.add(position(store, event)).add(int64_t{tree.launch(event).index});
  Digest frames;
  for (size_t i = 0; i < store.size(); ++i) {
    if (store.kind(EventId(i)) == EventKind::kPython)
      frames.add(position(store, EventId(i))).add(position(store, tree.parent_frame(EventId(i))));
  }
  return fmt::format(
      "calls {}, roots {}, deepest {}, inside a Python frame {}\n"
      "linked {}, unlinked {}\n"
      "digests: nesting {}, links {}, frames {}\n",
      tree.size(), roots, deepest, in_frames, tree.linked().size(), tree.unlinked().size(),
      digest.text(), links.text(), frames.text());
}

std::string show_steps(const EventStore& store, const CallTree& tree) {
  const Steps steps(store, kProfilerSteps);
  std::vector<int64_t> launched(steps.all().size()), begun(steps.all().size());
  for (EventId event : tree.linked()) {
    if (const auto step = steps.at(store.start(tree.event(tree.launch(event))))) ++launched[*step];
    if (const auto step = steps.on_gpu_at(store.start(event))) ++begun[*step];
  }
  std::string out = fmt::format("\nsteps {}\n", steps.all().size());
  for (size_t i = 0; i < steps.all().size(); ++i) {
    const Step& step = steps.all()[i];
    out +=
        fmt::format("  {}  {} + {} us, GPU events launched in it {}, begun in its GPU image {}\n",
                    store.name(step.annotation), exact_decimal(step.begin.count, 3),
                    exact_decimal((step.end - step.begin).count, 3), launched[i], begun[i]);
  }
  std::map<std::string_view, int64_t> names;
  const Steps annotations(store, "*");
  for (const Step& step : annotations.all()) ++names[store.name(step.annotation)];
  for (const auto& [name, count] : names)
    out += fmt::format("  annotations {} x {}\n", count, cut_name(name));
  return out;
}

std::string show_backward(const EventStore& store) {
  const std::unordered_map<EventId, EventId> links = link_backward_to_forward(store);
  const std::map<EventId, EventId> sorted(links.begin(), links.end());
  Digest digest;
  std::string shown;
  size_t count = 0;
  for (const auto& [backward, forward] : sorted) {
    digest.add(position(store, backward)).add(position(store, forward));
    if (count++ < kShownEvents)
      shown += fmt::format("  {} {} -> {} {}\n", position(store, backward), store.name(backward),
                           position(store, forward), store.name(forward));
  }
  return fmt::format("\nbackward -> forward {}, digest {}\n", count, digest.text()) + shown;
}

}  // namespace

std::string dump_tree(const EventStore& store, const CallTree& tree) {
  std::string out = show_totals(store, tree);
  out += show_steps(store, tree);
  out += show_backward(store);
  out += "\nunlinked\n";
  for (size_t i = 0; i < std::min(tree.unlinked().size(), kShownEvents); ++i) {
    const EventId event = tree.unlinked()[i];
    out += fmt::format("  {} {}\n", position(store, event), cut_name(store.name(event)));
  }
  out += "\ndiagnostics\n";
  for (const Diagnostic& d : tree.diagnostics().all())
    out += fmt::format("  {} {}, first: {}\n", describe(d.flaw).id, d.count, cut_name(d.example));
  return out + show_kernels(store, tree);
}

}  // namespace fathom::test
