// What is known of the work that a trace's ops must do.
#include <cmath>
#include <set>

#include "cost/op_catalog.h"
#include "invariants/every_trace.h"
#include "sheets/op_groups.h"

namespace fathom {
namespace {

class CostLaws : public test::LawOfTraces {
 protected:
  SheetInput input() const { return {trace().store, trace().tree, scope_}; }

 private:
  Scope scope_;
};

// CUDA graphs replay kernels that no op of the trace called: there is no shape to know.
bool hides_its_shapes(const std::string& path) {
  return path.find("llama-compiled-h200") != std::string::npos;
}

TEST_P(CostLaws, NearlyAllGpuTimeHasACost) {
  if (hides_its_shapes(path())) GTEST_SKIP() << "skipped: CUDA graphs hide the shapes";
  const SheetInput in = input();
  const MeasuredOps ops(in, find_launchers(in));
  Nanos known;
  std::string without;
  for (const OpGroup& group : ops.groups()) {
    if (group.cost) {
      known += group.gpu.sum;
    } else {
      without += std::string(group.key.name) + "\n";
    }
  }
  ASSERT_GT(ops.total(), Nanos{});
  EXPECT_GE(static_cast<double>(known.count), 0.95 * static_cast<double>(ops.total().count))
      << without;
}

TEST_P(CostLaws, CostsAreFiniteAndNotNegative) {
  const SheetInput in = input();
  const MeasuredOps ops(in, find_launchers(in));
  for (const OpGroup& group : ops.groups()) {
    if (!group.cost) continue;
    EXPECT_TRUE(std::isfinite(group.cost->flops) && group.cost->flops >= 0) << group.key.name;
    EXPECT_TRUE(std::isfinite(group.cost->bytes) && group.cost->bytes >= 0) << group.key.name;
    EXPECT_FALSE(group.cost->params.empty()) << group.key.name;
  }
}

// Whatever op_costs.tsv says: an op that the catalogue does not take as one row, and that is no
// gradient of one, is only taken where it launches work itself and the catalogue takes none below.
TEST_P(CostLaws, TheCatalogueAloneDecidesWhichRowsThereAre) {
  const SheetInput in = input();
  const CallTree& tree = in.tree;
  for (const UnifiedOp& op : find_unified_ops(in, find_launchers(in))) {
    const bool synthetic = op.name.ends_with("(Synthetic Op)");
    if (synthetic || OpCatalog::built_in().is_modelled(op.name)) continue;
    const CallId call = tree.call(op.event);
    bool launches = false, modelled_below = false;
    for (CallId c(call.index + 1); c < tree.subtree_end(call); ++c.index) {
      const bool is_op = in.store.kind(tree.event(c)) == EventKind::kCpuOp;
      const bool has_work = in.selection.any(tree.launched_in_subtree(c));
      const bool own = tree.enclosing_op(c) == call;
      launches = launches || (!is_op && own && in.selection.any(tree.launched_by(c)));
      modelled_below =
          modelled_below ||
          (is_op && has_work && OpCatalog::built_in().is_modelled(in.store.name(tree.event(c))));
    }
    EXPECT_FALSE(modelled_below) << op.name;
    EXPECT_TRUE(launches || op.forward.valid()) << op.name;
  }
}

FATHOM_FOR_EVERY_TRACE(CostLaws);

}  // namespace
}  // namespace fathom
