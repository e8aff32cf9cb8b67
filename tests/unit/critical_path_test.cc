// Critical paths of small traces with known answers, and what would change them.
#include "analyze/critical/critical_path.h"

#include <fmt/format.h>

#include <random>

#include "analyze/critical/what_if.h"
#include "checks.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::annotation;
using test::cpu_op;
using test::kernel;
using test::launch_call;
using test::micros;

// A trace with its path; times in µs.
class Case {
 public:
  explicit Case(const std::vector<std::string>& events)
      : trace_(test::open_events(events)),
        input_(trace_.store, trace_.tree, scope_),
        path_(input_, find_time_base(input_, work_by_device(input_))) {}

  const CriticalGraph& graph() const { return path_.graph(); }
  const CriticalPath& path() const { return path_; }
  int64_t length() const { return graph().length / 1000; }
  int64_t on_path(PathPart part) const { return path_.shares()[static_cast<size_t>(part)] / 1000; }
  int64_t slack(std::string_view name) const {
    for (const PathRow& row : path_.rows())
      if (row.name.valid() && trace_.store.text(row.name) == name) return row.least_slack / 1000;
    ADD_FAILURE() << "no row " << name;
    return -1;
  }
  // Optimistic and pessimistic length after a change.
  std::pair<int64_t, int64_t> then(std::string_view change) const {
    const Result<WhatIfQuestion> question = parse_what_if(change);
    EXPECT_TRUE(question.ok()) << change;
    const Result<WhatIfAnswer> answer = WhatIf(input_, path_).ask(question.value());
    EXPECT_TRUE(answer.ok()) << answer.error().message;
    return {answer.value().at_least.count / 1000, answer.value().at_most.count / 1000};
  }
  std::string error(std::string_view change) const {
    const Result<WhatIfAnswer> answer = WhatIf(input_, path_).ask(parse_what_if(change).value());
    return answer.ok() ? "" : answer.error().message;
  }
  // Names of the work that is known to be before some work, by events or waits.
  std::string waited_for(std::string_view name) const {
    std::string names;
    for (const GraphEdge& edge : graph().edges) {
      const EventId node = graph().event[edge.node], before = graph().event[edge.before];
      if (edge.kind != GraphEdge::Kind::kWait || !node.valid() || !before.valid()) continue;
      if (trace_.store.name(node) == name) names += std::string(trace_.store.name(before)) + " ";
    }
    return names;
  }
  Nanos without(std::string_view name) const {
    const EventId event = test::find_event(trace_.store, name);
    return WhatIf(input_, path_).saving_if_removed({&event, 1});
  }

 private:
  Trace trace_;
  Scope scope_;
  SheetInput input_;
  CriticalPath path_;
};

using Range = std::pair<int64_t, int64_t>;

// Each launch takes 5 µs of 10, each kernel 3: the host is what takes time.
std::vector<std::string> launch_bound() {
  std::vector<std::string> events;
  for (int i = 0; i < 20; ++i) {
    events.push_back(cpu_op("aten::add", 100 + i * 10, 8));
    events.push_back(launch_call(101 + i * 10, 5, i + 1));
    events.push_back(kernel("k", 108 + i * 10, 3, i + 1));
  }
  return events;
}

TEST(CriticalPath, ALaunchBoundProgramIsHostTime) {
  const Case c(launch_bound());
  EXPECT_EQ(c.length(), 201);
  EXPECT_EQ(c.on_path(PathPart::kHostLaunch), 100);
  EXPECT_EQ(c.on_path(PathPart::kKernel), 3) << "the last one";
  EXPECT_EQ(c.slack("aten::add"), 0);
  EXPECT_EQ(c.then("kernel=k x0").first, 198);
  EXPECT_EQ(c.then("kernel=k x1"), Range(201, 201));
  EXPECT_EQ(c.then("launch x0"), Range(101, 101));
  EXPECT_EQ(c.then("launch x0.5"), Range(151, 151));
  // 20 kernels one after the other, a usual gap apart, after the latency of the first.
  EXPECT_LE(c.then("host x0").second, 110);
}

// The same launches with kernels of 30 µs: the GPU is what takes time.
TEST(CriticalPath, AGpuBoundProgramIsKernelTime) {
  std::vector<std::string> events;
  for (int i = 0; i < 20; ++i) {
    events.push_back(cpu_op("aten::mm", 100 + i * 10, 8));
    events.push_back(launch_call(101 + i * 10, 5, i + 1));
    events.push_back(kernel("k", 108 + i * 30, 30, i + 1));
  }
  const Case c(events);
  EXPECT_EQ(c.on_path(PathPart::kKernel), 600);
  EXPECT_EQ(c.then("op=aten::mm x0.5"), Range(308, 308));
  EXPECT_EQ(c.then("launch x0").second, 603) << "the first launch only";
  EXPECT_GT(c.slack("cudaLaunchKernel"), -1);
  // Kernels of no length: the host is in the way again.
  EXPECT_EQ(c.then("kernel=* x0").first, 199) << "the last launch and its latency";
  EXPECT_EQ(c.then("op=* remove").second, 38) << "the host's time between the ops";
}

TEST(CriticalPath, OfTwoStreamsTheLongerCounts) {
  const Case c({launch_call(0, 5, 1), launch_call(5, 5, 2), kernel("long", 7, 100, 1, 7),
                kernel("short", 12, 40, 2, 8)});
  EXPECT_EQ(c.length(), 107);
  EXPECT_EQ(c.slack("long"), 0);
  EXPECT_EQ(c.slack("short"), 55);
  EXPECT_EQ(c.then("kernel=short x0"), Range(107, 107));
  EXPECT_EQ(c.then("kernel=long x0.5"), Range(57, 57));
  EXPECT_EQ(c.then("kernel=long x0.1"), Range(52, 52)) << "then the other is the longer";
}

// A kernel of stream 8 that begins when one of stream 7 ends.
std::vector<std::string> two_streams(bool waits, int64_t second_begin) {
  std::vector<std::string> events = {launch_call(0, 5, 1), kernel("first", 7, 100, 1, 7),
                                     launch_call(12, 5, 3),
                                     kernel("second", second_begin, 50, 3, 8)};
  if (waits) events.push_back(launch_call(8, 2, 2, "1", "cudaStreamWaitEvent"));
  return events;
}

TEST(CriticalPath, AnEventWaitLeadsToTheOtherStream) {
  const Case known(two_streams(true, 109));
  EXPECT_EQ(known.length(), 159);
  EXPECT_EQ(known.on_path(PathPart::kKernel), 150);
  EXPECT_EQ(known.then("kernel=first x0.5"), Range(109, 109));
  // Without the call only the times speak for it: it may be so.
  const Case inferred(two_streams(false, 109));
  EXPECT_EQ(inferred.on_path(PathPart::kKernel), 150);
  EXPECT_EQ(inferred.then("kernel=first x0.5"), Range(109, 159));
  // It began long before the other ended: no wait.
  const Case parallel(two_streams(true, 20));
  EXPECT_EQ(parallel.length(), 107);
  EXPECT_EQ(parallel.then("kernel=second x0"), Range(107, 107));
  EXPECT_EQ(parallel.then("kernel=first x0.5"), Range(70, 70));
}

TEST(CriticalPath, AnUnexplainedDelayStays) {
  // Queued at 5, begins at 200, and nothing ends before it.
  const Case c({launch_call(0, 5, 1), kernel("late", 200, 10, 1), cpu_op("aten::add", 5, 5)});
  EXPECT_EQ(c.on_path(PathPart::kUnexplained), 195);
  EXPECT_EQ(c.then("host x0").second, 205);
}

std::vector<std::string> synchronized_loop(std::string_view wait) {
  std::vector<std::string> events;
  for (int i = 0; i < 10; ++i) {
    const int64_t t = i * 100;
    events.push_back(launch_call(t, 5, i + 1));
    events.push_back(kernel("k", t + 7, 50, i + 1));
    events.push_back(launch_call(t + 5, 60, 1000 + i, "1", wait));
    events.push_back(cpu_op("aten::add", t + 65, 35));
  }
  return events;
}

TEST(CriticalPath, ASynchronizationTiesTheHostToTheGpu) {
  const Case c(synchronized_loop("cudaStreamSynchronize"));
  EXPECT_EQ(c.length(), 1000);
  EXPECT_EQ(c.on_path(PathPart::kKernel), 500);
  EXPECT_EQ(c.on_path(PathPart::kSyncReturn), 80);
  EXPECT_EQ(c.then("kernel=k x0.5"), Range(750, 750));
  EXPECT_EQ(c.then("call=aten::add x0"), Range(650, 650));
  // Without waits the GPU runs on: 10 × 50, 9 usual gaps of 1, and 7 before the first.
  EXPECT_EQ(c.then("sync remove").first, 516);
  // A call of another name waits for nothing: kernels run beside it.
  const Case twin(synchronized_loop("cudaEventQuery"));
  EXPECT_EQ(twin.then("kernel=k x0.5"), Range(1000, 1000));
}

// The host waits for stream 7 while stream 8 ends a little later.
TEST(CriticalPath, ARecordedSynchronizationNamesItsStream) {
  const auto events = [](bool recorded) {
    std::vector<std::string> all = {launch_call(0, 5, 1),
                                    kernel("waited for", 7, 100, 1, 7),
                                    launch_call(5, 5, 2),
                                    kernel("other", 12, 97, 2, 8),
                                    launch_call(10, 102, 3, "1", "cudaStreamSynchronize"),
                                    cpu_op("aten::add", 112, 100)};
    if (recorded)
      all.push_back(test::event_text("cuda_sync", "Stream Sync", 11, 100, "", "0", "7"));
    return all;
  };
  // The stream of the last launch is taken for it, unless the recorder tells which it was.
  EXPECT_EQ(Case(events(false)).then("kernel=other x0"), Range(115, 210));
  EXPECT_EQ(Case(events(true)).then("kernel=other x0"), Range(212, 212));
  EXPECT_EQ(Case(events(true)).then("kernel=waited* x0.5"), Range(162, 162));
}

TEST(CriticalPath, ARecordedEventWaitNamesTheStreamThatWaits) {
  // Told to stream 9, whose work is launched after other work of stream 8.
  const auto events = [](bool recorded) {
    std::vector<std::string> all = {launch_call(0, 5, 1),
                                    kernel("first", 7, 100, 1, 7),
                                    launch_call(6, 2, 2, "1", "cudaStreamWaitEvent"),
                                    launch_call(8, 5, 3),
                                    kernel("beside", 15, 10, 3, 8),
                                    launch_call(13, 5, 4),
                                    kernel("second", 109, 50, 4, 9)};
    if (recorded)
      all.push_back(test::event_text("cuda_sync", "Stream Wait Event", 7, 1, "", "0", "9"));
    return all;
  };
  EXPECT_EQ(Case(events(true)).then("kernel=first x0.5"), Range(109, 109));
  EXPECT_EQ(Case(events(false)).then("kernel=first x0.5"), Range(109, 159));
}

// As PyTorch's profiler writes it with enable_cuda_sync_events.
std::string wait_by_ids(std::string_view name, int64_t start, int call, int record, int source,
                        std::string_view stream) {
  return test::event_text(
      "cuda_sync", name, start, 1,
      fmt::format(R"("wait_on_stream":{},"wait_on_cuda_event_record_corr_id":{},)"
                  R"("stream":{},"correlation":{},"device":0)",
                  source, record, stream, call),
      "0", stream);
}

TEST(CriticalPath, AnEventWaitNamesTheWorkThatItIsFor) {
  // Stream 9 waits for an event of stream 7 that was recorded before "later" was launched there.
  const auto events = [](int record) {
    return std::vector<std::string>{launch_call(0, 5, 1),
                                    kernel("first", 7, 100, 1, 7),
                                    launch_call(6, 1, 2, "1", "cudaEventRecord"),
                                    launch_call(8, 5, 3),
                                    kernel("later", 108, 30, 3, 7),
                                    launch_call(14, 2, 4, "1", "cudaStreamWaitEvent"),
                                    launch_call(17, 5, 5),
                                    kernel("second", 140, 50, 5, 9),
                                    wait_by_ids("Stream Wait Event", 15, 4, record, 7, "9")};
  };
  EXPECT_EQ(Case(events(2)).waited_for("second"), "first ");
  // Written where the profiler does not know, or a correlation that no call has: nothing is known.
  EXPECT_EQ(Case(events(-1)).waited_for("second"), "");
  EXPECT_EQ(Case(events(99)).waited_for("second"), "");
}

// Without ids: the event was recorded before "later" was launched, so it cannot be behind that.
TEST(CriticalPath, AnEventIsBehindNothingThatWasLaunchedAfterTheLastRecord) {
  const auto events = [](bool has_record) {
    std::vector<std::string> all = {launch_call(0, 5, 1),
                                    kernel("first", 7, 80, 1, 7),
                                    launch_call(8, 5, 3),
                                    kernel("later", 88, 20, 3, 7),
                                    launch_call(14, 2, 4, "1", "cudaStreamWaitEvent"),
                                    launch_call(17, 5, 5),
                                    kernel("second", 109, 50, 5, 9)};
    if (has_record) all.push_back(launch_call(6, 1, 2, "1", "cudaEventRecordWithFlags"));
    return all;
  };
  EXPECT_EQ(Case(events(false)).waited_for("second"), "later ");
  EXPECT_EQ(Case(events(true)).waited_for("second"), "") << "the first ended long before";
}

TEST(CriticalPath, TheHostWaitsForTheEventThatIsRecorded) {
  const auto events = [](int record) {
    return std::vector<std::string>{launch_call(0, 5, 1),
                                    kernel("first", 7, 50, 1, 7),
                                    launch_call(6, 1, 2, "1", "cudaEventRecord"),
                                    launch_call(8, 5, 3),
                                    kernel("later", 58, 300, 3, 7),
                                    launch_call(14, 45, 4, "1", "cudaEventSynchronize"),
                                    cpu_op("aten::add", 60, 400),
                                    wait_by_ids("Event Sync", 15, 4, record, 7, "7")};
  };
  EXPECT_EQ(Case(events(2)).then("kernel=first x0.5"), Range(435, 435));
  // A correlation that no call has is no claim.
  EXPECT_EQ(Case(events(99)).length(), 460);
}

TEST(CriticalPath, AWaitThatWasShortBecomesLongWhenTheHostIsFaster) {
  // The host takes 100 µs before it waits, the kernel only 60: it waits for nothing today.
  const Case c({launch_call(0, 5, 1), kernel("k", 7, 60, 1), cpu_op("aten::add", 5, 95),
                launch_call(100, 2, 9, "1", "cudaDeviceSynchronize"),
                cpu_op("aten::mul", 102, 40)});
  EXPECT_EQ(c.length(), 142);
  EXPECT_EQ(c.then("call=aten::add x0"), Range(109, 109)) << "the kernel ends at 67";
}

TEST(CriticalPath, ABlockingCopyHoldsTheHost) {
  const auto copy = [](std::string_view call, int64_t length) {
    return std::vector<std::string>{
        launch_call(0, 5, 1), kernel("k", 7, 500, 1), launch_call(5, length, 2, "1", call),
        test::event_text("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 508, 10,
                         R"("device":0,"stream":7,"correlation":2)", "0", "7"),
        cpu_op("aten::add", 5 + length, 100)};
  };
  const Case c(copy("cudaMemcpyAsync", 515));
  EXPECT_EQ(c.length(), 620);
  EXPECT_EQ(c.on_path(PathPart::kKernel), 500) << "it waits for the kernel before the copy";
  EXPECT_EQ(c.then("kernel=k x0.5"), Range(370, 370));
  // A copy that does not block: the host is free.
  const Case twin(copy("cudaMemcpyAsync", 5));
  EXPECT_EQ(twin.length(), 518);
  EXPECT_EQ(twin.then("call=aten::add x0"), Range(518, 518));
}

std::vector<std::string> forward_backward(std::string_view backward_facts) {
  std::vector<std::string> events = {annotation("ProfilerStep#1", 0, 400),
                                     cpu_op("aten::mm", 0, 100), cpu_op("aten::add", 320, 80)};
  for (int i = 0; i < 10; ++i) {
    events.push_back(cpu_op(fmt::format("backward{}", i), 110 + i * 20, 18, backward_facts, "2"));
    events.push_back(launch_call(115 + i * 20, 5, i + 1, "2"));
    events.push_back(kernel("k", 122 + i * 20, 3, i + 1));
  }
  return events;
}

TEST(CriticalPath, TheMainThreadWaitsForAutograd) {
  const Case c(forward_backward(R"("Sequence number":5,"Fwd thread id":1)"));
  EXPECT_EQ(c.length(), 400);
  EXPECT_EQ(c.on_path(PathPart::kHostLaunch), 50);
  EXPECT_EQ(c.then("launch x0"), Range(350, 350));
  EXPECT_EQ(c.slack("backward3"), 0);
  // Some other thread: the main thread may wait for it, or not.
  const Case other(forward_backward(""));
  EXPECT_EQ(other.then("launch x0"), Range(350, 400));
}

// A thread that works, and one that makes its first call when that is done.
std::vector<std::string> joined_thread(int64_t then) {
  return {launch_call(100, 5, 1, "2"),
          kernel("long", 110, 400, 1),
          launch_call(106, 409, 9, "2", "cudaStreamSynchronize"),
          launch_call(then, 5, 2, "1"),
          kernel("short", then + 10, 5, 2, 8),
          launch_call(then + 6, 14, 8, "1", "cudaDeviceSynchronize")};
}

TEST(CriticalPath, AThreadThatIsJoinedComesBeforeTheOneThatGoesOn) {
  const Case c(joined_thread(560));
  EXPECT_EQ(c.on_path(PathPart::kKernel), 405);
  EXPECT_EQ(c.on_path(PathPart::kBefore), 0);
  // Long after the other thread's last call, nothing tells what it waited for.
  const Case later(joined_thread(50560));
  EXPECT_EQ(later.on_path(PathPart::kKernel), 5);
}

TEST(CriticalPath, StepsAreTheWindow) {
  std::vector<std::string> events = launch_bound();
  events.push_back(annotation("ProfilerStep#1", 90, 110));
  events.push_back(annotation("ProfilerStep#2", 200, 100));
  const Case c(events);
  EXPECT_EQ(c.graph().steps, 2u);
  EXPECT_EQ(c.length(), 211) << "from the begin of the first to the end of their last work";
  EXPECT_EQ(c.path().step_time().count, 105'500);
}

TEST(CriticalPath, SavingsOfEvents) {
  const Case c({cpu_op("aten::a", 0, 10), launch_call(1, 5, 1), cpu_op("aten::b", 10, 10),
                launch_call(11, 5, 2), kernel("ka", 8, 100, 1), kernel("kb", 109, 50, 2)});
  EXPECT_EQ(c.length(), 159);
  EXPECT_EQ(c.without("ka"), micros(90)) << "kb follows its own launch then, 3 µs later";
  EXPECT_EQ(c.without("aten::b"), micros(51));
}

TEST(CriticalPath, NoGpuWork) {
  const Case c({cpu_op("aten::add", 0, 10)});
  EXPECT_FALSE(c.path().missing().empty());
  EXPECT_TRUE(c.path().rows().empty());
}

TEST(CriticalPath, OddTimesAreReplayedAsTheyAre) {
  const std::vector<std::vector<std::string>> odd = {
      // A kernel before its launch; one that ends within it; one without a launch; of no length.
      {launch_call(100, 5, 1), kernel("before", 50, 10, 1), launch_call(110, 50, 2),
       kernel("inside", 115, 3, 2), kernel("alone", 130, 10, 77), kernel("nothing", 150, 0, 78)},
      // Overlapping on one stream, one inside the other.
      {launch_call(0, 5, 1), launch_call(5, 5, 2), launch_call(10, 5, 3), kernel("a", 7, 100, 1),
       kernel("b", 12, 20, 2), kernel("c", 90, 50, 3)},
      // Calls of no length, and calls that overlap without being nested.
      {cpu_op("a", 0, 10), cpu_op("b", 5, 10), cpu_op("z", 5, 0), launch_call(7, 0, 1),
       kernel("k", 7, 0, 1), launch_call(7, 0, 2, "1", "cudaDeviceSynchronize")},
      // Two threads that launch with the same id.
      {launch_call(0, 5, 1), launch_call(2, 5, 1, "2"), kernel("k", 10, 5, 1),
       kernel("l", 11, 5, 1, 8)},
      // Times beyond all measure.
      {launch_call(0, 5, 1), kernel("k", 10, 5, 1), launch_call(9'000'000'000'000'000, 5, 2),
       kernel("l", 9'000'000'000'000'010, 5, 2)},
  };
  for (const auto& events : odd) {
    const Case c(events);
    if (!c.path().missing().empty()) continue;
    EXPECT_EQ(c.path().replay_error(), 0);
    int64_t sum = 0;
    for (const int64_t share : c.path().shares()) {
      EXPECT_GE(share, 0);
      sum += share;
    }
    EXPECT_EQ(sum, c.graph().length);
    EXPECT_EQ(c.then("kernel=* x1"), Range(c.length(), c.length()));
    EXPECT_LE(c.then("kernel=* x0").second, c.length());
  }
}

// Random traces: threads, streams, waits, damaged times.
std::vector<std::string> random_trace(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(n));
  };
  static constexpr const char* kCalls[] = {"cudaDeviceSynchronize", "cudaStreamSynchronize",
                                           "cudaEventSynchronize",  "cudaStreamWaitEvent",
                                           "cudaEventRecord",       "cudaMalloc"};
  std::vector<std::string> events;
  const int64_t threads = 1 + below(3);
  std::vector<int64_t> host(static_cast<size_t>(threads)), gpu(3);
  for (int64_t i = 1; i <= 60; ++i) {
    const auto t = static_cast<size_t>(below(threads));
    const std::string thread = std::to_string(t + 1);
    const int64_t begin = host[t] + below(20), length = below(15);
    host[t] = begin + length + below(3);
    const auto stream = static_cast<size_t>(below(3));
    if (below(4) == 0) {
      events.push_back(launch_call(begin, length + below(60), 1000 + i, thread, kCalls[below(6)]));
      continue;
    }
    const bool autograd = t == 1 && below(2) == 0;
    events.push_back(cpu_op("op" + std::to_string(below(4)), begin, length + 1,
                            autograd ? R"("Sequence number":5,"Fwd thread id":1)" : "", thread));
    events.push_back(launch_call(begin, length, i, thread));
    int64_t start = std::max(begin + below(20), gpu[stream]);
    if (below(10) == 0) start -= below(30);
    const int64_t busy = below(40);
    gpu[stream] = start + busy;
    events.push_back(kernel("k" + std::to_string(below(4)), start, busy, below(9) == 0 ? 9999 : i,
                            static_cast<int64_t>(7 + stream)));
  }
  if (below(2) == 0) events.push_back(annotation("ProfilerStep#1", 50, 300));
  return events;
}

TEST(CriticalPath, LawsHoldForRandomTraces) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const Case c(random_trace(seed));
    if (!c.path().missing().empty()) continue;
    SCOPED_TRACE(seed);
    const CriticalGraph& g = c.graph();
    const GraphChange same(g);
    Replayed replayed;
    for (const Outlook outlook : {Outlook::kPessimistic, Outlook::kOptimistic}) {
      replay(g, same, outlook, replayed);
      ASSERT_EQ(replayed.length, g.length);
      for (uint32_t i = 0; i < g.size(); ++i) {
        if (g.kind[i] == NodeKind::kPause) continue;
        ASSERT_EQ(replayed.ends[i], g.end(i)) << i;
      }
    }
    const std::vector<int64_t> slack = find_slack(g);
    for (uint32_t i = 0; i < g.size(); ++i) ASSERT_GE(slack[i], 0);
    for (const PathStep& step : find_path(g, same, replayed)) ASSERT_EQ(slack[step.node], 0);
    std::mt19937 random(seed);
    GraphChange change(g);
    Replayed before = replayed, after;
    for (int round = 0; round < 10; ++round) {
      const auto node = static_cast<size_t>(random() % g.size());
      change.duration[node] /= 2;
      if (random() % 3 == 0) {
        change.removed[node] = true;
        change.duration[node] = 0;
      }
      replay(g, change, Outlook::kOptimistic, after);
      ASSERT_LE(after.length, before.length) << "what is shorter makes nothing longer";
      Replayed pessimistic;
      replay(g, change, Outlook::kPessimistic, pessimistic);
      ASSERT_LE(after.length, pessimistic.length);
      ASSERT_LE(pessimistic.length, g.length);
      std::swap(before, after);
    }
    // Delaying a node by its slack makes nothing longer; by more, it does.
    const auto node = static_cast<size_t>(random() % g.size());
    GraphChange later(g);
    later.duration[node] += slack[node];
    replay(g, later, Outlook::kPessimistic, replayed);
    ASSERT_LE(replayed.length, g.length);
  }
}

TEST(WhatIf, MistakesAreExplained) {
  for (const char* text :
       {"", "op=aten::mm", "op x0.5", "op= x0.5", "opp=a x0.5", "op=a xfast", "op=a x-1",
        "op=a xnan", "op=a x1000", "op=a 0.5", "launch x0 and ", "launch x0 and sync"}) {
    EXPECT_FALSE(parse_what_if(text).ok()) << text;
  }
  EXPECT_NE(parse_what_if("kernl=k x0").error().message.find("did you mean 'kernel'"),
            std::string::npos);
  const Case c(launch_bound());
  EXPECT_EQ(c.error("op=aten::ad x0"),
            "--what-if: no op named 'aten::ad' in the trace; did you mean 'aten::add'?");
  EXPECT_EQ(c.error("copy=Memcpy* x0"), "--what-if: no copy named 'Memcpy*' in the trace");
  EXPECT_EQ(c.then("copy x0"), Range(201, 201)) << "there is none: an answer";
  EXPECT_EQ(c.error("module=Linear_0 x0"),
            "--what-if: the trace has no nn.Module frames; record with with_stack=True");
}

TEST(WhatIf, ChangesTogether) {
  const Case c(launch_bound());
  EXPECT_EQ(c.then("launch x0 and call=aten::add x0.9"), Range(95, 95))
      << "host 2 of 10 µs less 10 %; the latency of a launch is no gap between kernels";
  EXPECT_EQ(c.then("kernel=* x1 and op=aten::* x1"), Range(201, 201));
}

TEST(WhatIf, ModulesAndAnnotations) {
  std::vector<std::string> events = launch_bound();
  events.push_back(annotation("forward", 150, 50));
  events.push_back(test::event_text("python_function", "nn.Module: Linear_0", 100, 50,
                                    R"("Python id":1,"Python module id":0)"));
  const Case c(events);
  EXPECT_EQ(c.then("annotation=forward remove"), Range(161, 161));
  EXPECT_EQ(c.then("module=Linear_* remove"), Range(161, 161));
  EXPECT_NE(c.error("module=Conv_0 remove"), "");
}

}  // namespace
}  // namespace fathom
