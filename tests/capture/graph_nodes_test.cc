// The ops of a captured graph on the kernels of its replays.
#include "session/graph_nodes.h"

#include <map>

#include "checks.h"
#include "session/analyze.h"
#include "sheets/unified_ops.h"
#include "test_files.h"

namespace fathom {
namespace {

Trace open_recorded(const std::string& name) {
  Result<Trace> trace =
      open_trace((test::source_dir() / "tests" / "capture" / (name + ".json.gz")).string());
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.take();
}

// Calls by op, as reports count them.
std::map<std::string, size_t> ops_of(const Trace& trace) {
  const Scope scope;
  const SheetInput input(trace.store, trace.tree, scope);
  std::map<std::string, size_t> ops;
  for (const UnifiedOp& op : find_unified_ops(input, find_launchers(input))) ++ops[op.name];
  return ops;
}

// The op around the launch of each piece of GPU work, with its first operand's sizes.
std::vector<std::string> named_work(const Trace& trace) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < trace.store.size(); ++i) {
    const EventId e(i);
    if (!is_gpu_work(trace.store.kind(e))) continue;
    const CallId op = trace.tree.enclosing_op(trace.tree.launch(e));
    std::string line = op.valid() ? std::string(trace.store.name(trace.tree.event(op))) : "none";
    if (op.valid()) {
      const ArgsId args = trace.store.args_id(trace.tree.event(op));
      if (args.valid()) line += " " + std::string(trace.store.text(trace.store.args(args).dims));
    }
    lines.push_back(std::string(trace.store.name(e).substr(0, 20)) + " by " + line);
  }
  return lines;
}

TEST(GraphNodes, TheCaptureAloneNamesAGraphOnOneStream) {
  Trace replay = open_recorded("block-replay");
  const size_t kernels_before = replay.tree.linked().size();
  const Result<NamedGraphs> named = name_graph_nodes(replay, open_recorded("block-capture"));
  ASSERT_TRUE(named.ok()) << named.error().message;
  EXPECT_EQ(named.value().launches, 3u);
  EXPECT_EQ(named.value().named, 3u);
  EXPECT_EQ(named.value().kernels, 66u);
  EXPECT_EQ(replay.tree.linked().size(), kernels_before) << "nothing is lost";
  const auto ops = ops_of(replay);
  // Two blocks with four products, two norms and one attention, three times.
  EXPECT_EQ(ops.at("aten::addmm"), 24u);
  EXPECT_EQ(ops.at("aten::layer_norm"), 12u);
  EXPECT_EQ(ops.at("aten::gelu"), 6u);
  EXPECT_EQ(ops.at("aten::_scaled_dot_product_cudnn_attention"), 6u);
}

TEST(GraphNodes, TheTimesOfKernelsStay) {
  Trace replay = open_recorded("block-replay");
  const auto times = [](const Trace& trace) {
    std::vector<int64_t> all;
    for (const EventId e : trace.tree.linked())
      all.insert(all.end(),
                 {trace.store.start(e).count, trace.store.duration(e).count, trace.store.uid(e)});
    std::ranges::sort(all);
    return all;
  };
  const auto before = times(replay);
  ASSERT_TRUE(name_graph_nodes(replay, open_recorded("block-capture")).ok());
  EXPECT_EQ(times(replay), before);
}

TEST(GraphNodes, AProductsKernelGetsTheProductsShape) {
  Trace replay = open_recorded("block-replay");
  ASSERT_TRUE(name_graph_nodes(replay, open_recorded("block-warm")).ok());
  const auto work = named_work(replay);
  ASSERT_EQ(work.size(), 66u);
  EXPECT_TRUE(work[0].ends_with("by aten::native_layer_norm [[2,256,512],[],[512],[512],[]]"))
      << work[0];
  EXPECT_TRUE(work[1].starts_with("nvjet_sm90_tst_96x64")) << work[1];
  EXPECT_TRUE(work[1].find("by aten::addmm [[1536],[512,512],[512,1536]") != std::string::npos)
      << work[1];
}

// Two graphs with the same ops: their kernels' names and grids, known from the run before the
// capture, tell which is which.
TEST(GraphNodes, ARunBeforeTheCaptureTellsGraphsApart) {
  Trace replay = open_recorded("decode-replay");
  const Result<NamedGraphs> named = name_graph_nodes(replay, open_recorded("decode-warm"));
  ASSERT_TRUE(named.ok()) << named.error().message;
  EXPECT_EQ(named.value().named, 6u);
  size_t one = 0, four = 0;
  for (const std::string& line : named_work(replay)) {
    one += line.find("by aten::native_layer_norm [[1,64,512]") != std::string::npos;
    four += line.find("by aten::native_layer_norm [[4,64,512]") != std::string::npos;
  }
  EXPECT_EQ(one, 12u);
  EXPECT_EQ(four, 12u);
}

// Near-twin: without that run both fit, and neither is chosen.
TEST(GraphNodes, GraphsThatCannotBeToldApartAreNotNamed) {
  Trace replay = open_recorded("decode-replay");
  const Result<NamedGraphs> named = name_graph_nodes(replay, open_recorded("decode-capture"));
  ASSERT_FALSE(named.ok());
  EXPECT_NE(named.error().message.find("equally well"), std::string::npos) << named.error().message;
}

TEST(GraphNodes, OnTwoStreamsNamesDecideAndNotTheOrder) {
  Trace replay = open_recorded("fork-replay");
  const Result<NamedGraphs> named = name_graph_nodes(replay, open_recorded("fork-warm"));
  ASSERT_TRUE(named.ok()) << named.error().message;
  EXPECT_EQ(named.value().named, 3u);
  const auto ops = ops_of(replay);
  EXPECT_EQ(ops.at("aten::addmm"), 6u);
  EXPECT_EQ(ops.at("aten::tanh"), 3u);
  EXPECT_EQ(ops.at("aten::clamp_min"), 3u) << "what aten::relu calls";
  for (const std::string& line : named_work(replay)) {
    const bool product = line.starts_with("nvjet");
    EXPECT_EQ(product, line.find("by aten::addmm") != std::string::npos) << line;
  }
}

TEST(GraphNodes, OnTwoStreamsWithoutNamesNothingIsNamed) {
  Trace replay = open_recorded("fork-replay");
  EXPECT_FALSE(name_graph_nodes(replay, open_recorded("fork-capture")).ok());
}

TEST(GraphNodes, AnotherProgramsCaptureIsRefused) {
  for (const char* other : {"other-capture", "other-warm", "fork-warm", "decode-warm"}) {
    Trace replay = open_recorded("block-replay");
    const Result<NamedGraphs> named = name_graph_nodes(replay, open_recorded(other));
    ASSERT_FALSE(named.ok()) << other;
    EXPECT_NE(named.error().message.find("does not fit"), std::string::npos)
        << named.error().message;
  }
}

TEST(GraphNodes, WhatHasNoGraphIsRefused) {
  Trace eager = open_recorded("block-capture");
  EXPECT_NE(name_graph_nodes(eager, open_recorded("block-capture"))
                .error()
                .message.find("launches no graph"),
            std::string::npos);
  Trace replay = open_recorded("block-replay");
  EXPECT_NE(name_graph_nodes(replay, open_recorded("other-replay"))
                .error()
                .message.find("has no graph capture"),
            std::string::npos);
}

}  // namespace
}  // namespace fathom
