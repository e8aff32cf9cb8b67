// All GPU work is accounted for, and once only.
#include <algorithm>

#include "invariants/every_trace.h"
#include "sheets/unified_ops.h"

namespace fathom {
namespace {

class OwnershipLaws : public test::LawOfTraces {
 protected:
  const EventStore& store() const { return trace().store; }
  const CallTree& tree() const { return trace().tree; }
  SheetInput input() const { return {store(), tree(), scope_}; }

  bool is_communication(EventId e) const { return is_communication_name(store().name(e)); }

  std::vector<EventId> linked_without_communication() const {
    std::vector<EventId> events;
    std::ranges::copy_if(tree().linked(), std::back_inserter(events),
                         [this](EventId e) { return !is_communication(e); });
    return events;
  }

  // How often each event is among the kernels of the rows given.
  template <typename Rows>
  std::vector<int> occurrences(const Rows& rows) const {
    std::vector<int> count(store().size());
    for (const auto& row : rows) {
      for (EventId e : row.kernels) ++count[e.index];
    }
    return count;
  }

 private:
  Scope scope_;
};

TEST_P(OwnershipLaws, LinkedAndUnlinkedAreAllGpuEvents) {
  std::vector<int> seen(store().size());
  for (EventId e : tree().linked()) {
    ++seen[e.index];
    EXPECT_TRUE(is_launch(store().kind(tree().event(tree().launch(e)))));
  }
  for (EventId e : tree().unlinked()) {
    ++seen[e.index];
    EXPECT_FALSE(tree().launch(e).valid());
  }
  for (size_t i = 0; i < store().size(); ++i) {
    ASSERT_EQ(seen[i], is_gpu_work(store().kind(EventId(i))) ? 1 : 0) << "event " << i;
  }
  EXPECT_EQ(static_cast<size_t>(tree().diagnostics().count(Flaw::kUnlinkedGpuEvent)),
            tree().unlinked().size());
}

TEST_P(OwnershipLaws, WhatACallLaunchedIsPartOfWhatItsParentLaunched) {
  size_t launched = 0, below_roots = 0;
  for (size_t i = 0; i < tree().size(); ++i) {
    const CallId call(i), parent = tree().parent(call);
    launched += tree().launched_by(call).size();
    const auto own = tree().launched_in_subtree(call);
    if (!parent.valid()) {
      below_roots += own.size();
      continue;
    }
    const auto around = tree().launched_in_subtree(parent);
    ASSERT_GE(own.data(), around.data());
    ASSERT_LE(own.data() + own.size(), around.data() + around.size());
  }
  EXPECT_EQ(launched, tree().linked().size());
  EXPECT_EQ(below_roots, tree().linked().size());
}

TEST_P(OwnershipLaws, AParentIsAroundItsChildInTime) {
  for (size_t i = 0; i < tree().size(); ++i) {
    const CallId parent = tree().parent(CallId(i));
    if (!parent.valid()) continue;
    const EventId inner = tree().event(CallId(i)), outer = tree().event(parent);
    ASSERT_EQ(store().track_id(inner), store().track_id(outer));
    ASSERT_LE(store().start(outer).count, store().start(inner).count);
    ASSERT_GE(store().end(outer).count, store().end(inner).count)
        << store().name(inner) << " in " << store().name(outer);
  }
}

TEST_P(OwnershipLaws, EveryLinkedEventButCommunicationHasOneLauncher) {
  const std::vector<int> count = occurrences(find_launchers(input()));
  for (size_t i = 0; i < store().size(); ++i) {
    const EventId e(i);
    const bool expected =
        is_gpu_work(store().kind(e)) && tree().launch(e).valid() && !is_communication(e);
    ASSERT_EQ(count[i], expected ? 1 : 0) << "event " << i << " " << store().name(e);
  }
}

TEST_P(OwnershipLaws, EveryLinkedEventButCommunicationIsInOneUnifiedRow) {
  const SheetInput in = input();
  const std::vector<int> count = occurrences(find_unified_ops(in, find_launchers(in)));
  for (size_t i = 0; i < store().size(); ++i) {
    const EventId e(i);
    if (!is_gpu_work(store().kind(e)) || !tree().launch(e).valid()) {
      ASSERT_EQ(count[i], 0) << "event " << i;
    } else if (is_communication(e)) {
      ASSERT_LE(count[i], 1) << "event " << i;
    } else {
      ASSERT_EQ(count[i], 1) << "event " << i << " " << store().name(e);
    }
  }
}

TEST_P(OwnershipLaws, DirectTimesCoverTheBusyTime) {
  const SheetInput in = input();
  const std::vector<Launcher> launchers = find_launchers(in);
  Nanos direct, unified;
  for (const Launcher& l : launchers) {
    direct += l.direct;
    EXPECT_LE(l.direct, l.subtree);
    Nanos sum;
    for (EventId e : l.kernels) sum += store().duration(e);
    EXPECT_LE(l.direct, sum);
  }
  for (const UnifiedOp& op : find_unified_ops(in, launchers)) {
    unified += busy_time(store(), op.kernels);
  }
  const std::vector<EventId> events = linked_without_communication();
  const Nanos busy = busy_time(store(), events);
  Nanos durations;
  for (EventId e : events) durations += store().duration(e);
  EXPECT_GE(direct, busy);
  EXPECT_LE(direct, durations);
  EXPECT_GE(unified, busy);
}

TEST_P(OwnershipLaws, LaunchersComeInTheOrderOfTime) {
  const std::vector<Launcher> launchers = find_launchers(input());
  for (size_t i = 1; i < launchers.size(); ++i) {
    EXPECT_LE(store().start(tree().event(launchers[i - 1].call)),
              store().start(tree().event(launchers[i].call)));
  }
}

FATHOM_FOR_EVERY_TRACE(OwnershipLaws);

}  // namespace
}  // namespace fathom
