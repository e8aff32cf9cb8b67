// The captures that the project ships, recorded on an H200: what is known of the programs that ran
// (examples/record/) must stand in them.
#include <map>

#include "checks.h"
#include "ingest/capture/counters.h"
#include "ingest/capture/reader.h"
#include "ingest/capture/samples.h"
#include "sheets/kernel_clocks.h"
#include "sheets/stall_sheets.h"
#include "test_files.h"
#include "tree/call_tree.h"

namespace fathom {
namespace {

EventStore open_example(const std::string& name) {
  const std::string path = (test::source_dir() / "examples/captures" / name).string();
  Result<std::unique_ptr<ByteSource>> source = open_source(path);
  EXPECT_TRUE(source.ok());
  Result<EventStore> store = capture::read_capture(*source.value(), name);
  EXPECT_TRUE(store.ok());
  return store.take();
}

std::map<std::string, int> names_of(const EventStore& store, EventKind kind) {
  std::map<std::string, int> names;
  for (EventId e(0); e.index < store.size(); ++e.index) {
    if (store.kind(e) == kind) ++names[std::string(store.name(e))];
  }
  return names;
}

int count_of(const EventStore& store, EventKind kind) {
  int count = 0;
  for (const auto& [name, n] : names_of(store, kind)) count += n;
  return count;
}

// activities.cu: 3 steps of 10 and 1, a graph of 5 launched 4 times, one long kernel.
TEST(ExampleCaptures, ActivitiesHoldWhatTheProgramDoes) {
  const EventStore store = open_example("activities-h200.capture");
  EXPECT_EQ(names_of(store, EventKind::kKernel),
            (std::map<std::string, int>{{"add_one(float*, int)", 50},
                                        {"scale(float*, float, int)", 3},
                                        {"void spin<20000>(float*, int)", 1}}));
  EXPECT_EQ(names_of(store, EventKind::kMemcpy),
            (std::map<std::string, int>{{"Memcpy HtoD (Pageable -> Device)", 1},
                                        {"Memcpy DtoH (Device -> Pageable)", 1}}));
  EXPECT_EQ(count_of(store, EventKind::kMemset), 1);
  EXPECT_EQ(names_of(store, EventKind::kAnnotation),
            (std::map<std::string, int>{{"copy in", 1}, {"step", 3}}));
  std::map<std::string, int> calls = names_of(store, EventKind::kRuntime);
  EXPECT_EQ(calls["cudaLaunchKernel"], 3 * 11 + 5 + 1);  // the graph's are recorded into it
  EXPECT_EQ(calls["cudaGraphLaunch"], 4);
  EXPECT_EQ(calls["cudaStreamWaitEvent"], 3);
  for (EventId e(0); e.index < store.size(); ++e.index) {
    if (store.kind(e) != EventKind::kKernel) continue;
    EXPECT_EQ(store.gpu_work(e).grid->x, 4096u);
    EXPECT_EQ(store.gpu_work(e).block->x, 256u);
  }
  EXPECT_TRUE(build_call_tree(store).unlinked().empty());
  EXPECT_EQ(store.metadata().gpus.at(0).name, "NVIDIA H200");
}

TEST(ExampleCaptures, OpsAndCountersOfADecode) {
  const EventStore store = open_example("decode-h200.capture");
  EXPECT_EQ(names_of(store, EventKind::kAnnotation)["prefill"], 8);
  EXPECT_EQ(names_of(store, EventKind::kAnnotation)["decode"], 32);
  // 2 layers of 7 products and the head, for 8 prefills and 32 decodes.
  EXPECT_EQ(names_of(store, EventKind::kCpuOp)["aten::mm"], 15 * 40);
  const CallTree tree = build_call_tree(store);
  int under_ops = 0;
  for (const EventId e : tree.linked())
    under_ops += tree.enclosing_op(tree.launch(e)).valid() ? 1 : 0;
  EXPECT_EQ(under_ops, static_cast<int>(tree.linked().size()));

  const std::string path = (test::source_dir() / "examples/captures/decode-h200.capture").string();
  Result<std::unique_ptr<ByteSource>> source = open_source(path);
  const Result<std::optional<CounterSet>> counters =
      capture::read_counters(*source.value(), "decode");
  ASSERT_TRUE(counters.ok() && counters.value());
  EXPECT_EQ(counters.value()->size(), 20u);  // as many as are counted
  EXPECT_EQ(counters.value()->origin().gpu, "NVIDIA H200");
  EXPECT_EQ(counters.value()->origin().capability, "9.0");
}

TEST(ExampleCaptures, FramesProbesAndNumbersOfTheOutput) {
  const EventStore store = open_example("stacks-h200.capture");
  EXPECT_GT(count_of(store, EventKind::kPython), 1000);
  EXPECT_EQ(names_of(store, EventKind::kAnnotation)["models:Attention.forward"], 2 * 3);
  std::vector<double> lengths, tokens;
  for (EventId e(0); e.index < store.size(); ++e.index) {
    if (store.kind(e) != EventKind::kCounter) continue;
    if (store.name(e) == "models:Attention.forward len(pos)")
      lengths.push_back(store.counters(e)[0].value);
    if (store.name(e) == "tokens") tokens.push_back(store.counters(e)[0].value);
  }
  EXPECT_EQ(lengths, (std::vector<double>{256, 256, 1, 1, 1, 1}));  // a prefill, two decodes
  EXPECT_EQ(tokens, (std::vector<double>{19510}));
}

// stalls.cu: two kernels that wait at a line that is known.
TEST(ExampleCaptures, KernelsStallWhereTheProgramSaysSo) {
  const EventStore store = open_example("stalls-h200.capture");
  const CallTree tree = build_call_tree(store);
  const SheetInput input(store, tree, Scope{});
  const std::string path = (test::source_dir() / "examples/captures/stalls-h200.capture").string();
  Result<std::unique_ptr<ByteSource>> source = open_source(path);
  const auto samples = capture::read_samples(*source.value(), "stalls");
  ASSERT_TRUE(samples.ok() && samples.value());
  EXPECT_EQ(samples.value()->period_cycles, 65536u);
  EXPECT_EQ(samples.value()->dropped, 0u);
  std::map<std::string_view, StalledKernel> kernels;
  for (const StalledKernel& kernel : stalled_kernels(input, *samples.value()))
    kernels.emplace(kernel.name.substr(0, kernel.name.find('(')), kernel);
  ASSERT_EQ(kernels.size(), 3u);
  const StalledPlace& memory = kernels.at("add_arrays").places.at(0);
  EXPECT_EQ(memory.text(), "/tmp/fathom-example/stalls.cu:23");  // sum[i] = a[i] + b[i]
  EXPECT_EQ(memory.reasons.at(0).name, "long_scoreboard");
  EXPECT_GT(memory.stalled * 10, kernels.at("add_arrays").samples * 8);
  const StalledPlace& banks = kernels.at("read_one_bank").places.at(0);
  EXPECT_EQ(banks.text(), "/tmp/fathom-example/stalls.cu:34");  // sum += tile[…]
  EXPECT_GT(banks.stalled * 10, kernels.at("read_one_bank").samples * 9);
  // Arithmetic issues most of the time.
  EXPECT_LT(kernels.at("polynomial").stalled * 10, kernels.at("polynomial").samples);
  const auto clocks = measure_clocks(input);
  ASSERT_TRUE(clocks.has_value());
  EXPECT_NEAR(*clocks->all.mean(0), 1980, 1);
  EXPECT_GT(*clocks->all.mean(2), 200);
}

// burn.py: products at the power cap, then short kernels after a pause.
TEST(ExampleCaptures, ClocksOfKernelsAtThePowerCap) {
  const EventStore store = open_example("burn-h200.capture");
  const CallTree tree = build_call_tree(store);
  const SheetInput input(store, tree, Scope{});
  const auto clocks = measure_clocks(input);
  ASSERT_TRUE(clocks.has_value());
  const ClockMeans& product = clocks->kernels.at(0).means;
  EXPECT_EQ(product.kernels, 2360);
  EXPECT_GT(*product.share(product.power_capped), 0.9);
  EXPECT_LT(*product.mean(0), 1600);
  EXPECT_GT(*product.mean(2), 650);
  const ClockMeans& add = clocks->kernels.at(1).means;
  EXPECT_EQ(add.kernels, 200);
  EXPECT_EQ(*add.share(add.slowed), 0);
  EXPECT_NEAR(*add.mean(0), 1980, 1);
}

TEST(ExampleCaptures, NodesOfGraphsAndSeveralProcesses) {
  const EventStore graphs = open_example("graphs-h200.capture");
  EXPECT_GE(names_of(graphs, EventKind::kRuntime)["cudaGraphLaunch"], 1);
  EXPECT_GT(count_of(graphs, EventKind::kKernel), 6000);
  for (const char* name : {"processes-h200.capture", "processes-h200-2.capture"}) {
    const EventStore store = open_example(name);
    EXPECT_EQ(count_of(store, EventKind::kKernel), 38) << name;
    EXPECT_TRUE(store.diagnostics().all().empty()) << name;
  }
}

}  // namespace
}  // namespace fathom
