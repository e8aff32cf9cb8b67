#include "sheets/launchers.h"

#include "base/sort_runs.h"
#include "cost/op_catalog.h"

namespace fathom {
namespace {

// Of each call the nearest op at or above it that is no "execute": that one only hands on, and the
// op that called it is the one with a meaning and arguments. Invalid where there is none.
std::vector<CallId> launching_ops(const EventStore& store, const CallTree& tree) {
  std::vector<CallId> ops(tree.size());
  for (CallId c(0); c.index < tree.size(); ++c.index) {
    const EventId event = tree.event(c);
    const bool counts = store.kind(event) == EventKind::kCpuOp && store.name(event) != "execute";
    const CallId parent = tree.parent(c);
    ops[c.index] = counts ? c : parent.valid() ? ops[parent.index] : CallId{};
  }
  return ops;
}

// Busy time of all work below launchers that may be nested as deep as the trace likes: what was
// united for one is handed on to the launcher around it, the smaller part added to the larger.
class SubtreeTimes {
 public:
  explicit SubtreeTimes(const SheetInput& input) : input_(input) {}

  // From the last call to the first, so that what is below a launcher was asked for before it.
  Nanos measure(CallId call) {
    const CallId end = input_.tree.subtree_end(call);
    Part part{call, input_.selection.among(input_.tree.launched_in_subtree(call)), {}, false};
    if (below_.empty() || !(below_.back().call < end)) {
      below_.push_back(part);
      return busy_time(input_.store, part.work);
    }
    size_t done = 0;  // of its work
    part.is_united = true;
    for (; !below_.empty() && below_.back().call < end; below_.pop_back()) {
      Part& inner = below_.back();
      const auto begin = static_cast<size_t>(inner.work.data() - part.work.data());
      add_to(part.united, part.work.subspan(done, begin - done));
      if (!inner.is_united) add_to(inner.united, inner.work);
      part.united.add(std::move(inner.united));
      done = begin + inner.work.size();
    }
    add_to(part.united, part.work.subspan(done));
    const Nanos time = part.united.length();
    below_.push_back(std::move(part));
    return time;
  }

 private:
  struct Part {
    CallId call;
    std::span<const EventId> work;
    IntervalSet united;      // its work
    bool is_united = false;  // else no launcher around it has asked yet
  };

  void add_to(IntervalSet& set, std::span<const EventId> events) const {
    for (EventId e : events) set.add({input_.store.start(e), input_.store.end(e)});
  }

  const SheetInput& input_;
  std::vector<Part> below_;  // of launchers with none around them so far, the first on top
};

}  // namespace

std::string_view launcher_name(const SheetInput& input, const Launcher& launcher) {
  return input.store.name(input.tree.has_ops() ? input.tree.event(launcher.call)
                                               : launcher.kernels.front());
}

std::vector<Launcher> find_launchers(const SheetInput& input) {
  const EventStore& store = input.store;
  const CallTree& tree = input.tree;
  const GpuSelection& selection = input.selection;
  struct Launched {
    CallId by;
    EventId kernel;
  };
  const std::vector<CallId> ops = launching_ops(store, tree);
  std::vector<Launched> launched;
  for (EventId kernel : selection.linked()) {
    if (tree.has_ops() && selection.is_communication(kernel)) continue;
    const CallId launch = tree.launch(kernel), op = ops[launch.index];
    launched.push_back({op.valid() ? op : launch, kernel});
  }
  sort_runs(launched, [&](const Launched& a, const Launched& b) {
    return std::tuple(a.by, store.start(a.kernel), a.kernel) <
           std::tuple(b.by, store.start(b.kernel), b.kernel);
  });
  std::vector<Launcher> launchers;
  for (const Launched& l : launched) {
    if (launchers.empty() || launchers.back().call != l.by)
      launchers.push_back({l.by, {}, {}, {}, {}});
    launchers.back().kernels.push_back(l.kernel);
  }
  SubtreeTimes subtree_times(input);
  for (size_t i = launchers.size(); i-- > 0;) {
    Launcher& launcher = launchers[i];
    launcher.category = OpCatalog::built_in().category(store.name(tree.event(launcher.call)),
                                                       store.name(launcher.kernels.front()));
    launcher.direct = busy_time(store, launcher.kernels);
    launcher.subtree = subtree_times.measure(launcher.call);
  }
  sort_runs(launchers, [&](const Launcher& a, const Launcher& b) {
    const EventId x = tree.event(a.call), y = tree.event(b.call);
    return std::tuple(store.start(x), x) < std::tuple(store.start(y), y);
  });
  return launchers;
}

}  // namespace fathom
