#include "sheets/launchers.h"

#include "base/sort_runs.h"
#include "cost/op_catalog.h"

namespace fathom {
namespace {

// "execute" only hands on: the op that called it is the one with a meaning and arguments.
CallId launching_op(const EventStore& store, const CallTree& tree, CallId launch) {
  CallId op = enclosing_op(store, tree, launch);
  while (op.valid() && store.name(tree.event(op)) == "execute") {
    op = enclosing_op(store, tree, tree.parent(op));
  }
  return op.valid() ? op : launch;
}

}  // namespace

std::vector<Launcher> find_launchers(const SheetInput& input) {
  const EventStore& store = input.store;
  const CallTree& tree = input.tree;
  const GpuSelection& selection = input.selection;
  struct Launched {
    CallId by;
    EventId kernel;
  };
  std::vector<Launched> launched;
  for (EventId kernel : selection.linked()) {
    if (selection.is_communication(kernel)) continue;
    launched.push_back({launching_op(store, tree, tree.launch(kernel)), kernel});
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
  for (Launcher& launcher : launchers) {
    launcher.category = OpCatalog::built_in().category(store.name(tree.event(launcher.call)),
                                                       store.name(launcher.kernels.front()));
    launcher.direct = busy_time(store, launcher.kernels);
    launcher.subtree = busy_time(store, selection.among(tree.launched_in_subtree(launcher.call)));
  }
  sort_runs(launchers, [&](const Launcher& a, const Launcher& b) {
    const EventId x = tree.event(a.call), y = tree.event(b.call);
    return std::tuple(store.start(x), x) < std::tuple(store.start(y), y);
  });
  return launchers;
}

}  // namespace fathom
