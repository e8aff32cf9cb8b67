// Idle time split by cause: a small trace for each cause, and a near twin that has another.
#include <fmt/format.h>

#include <map>

#include "analyze/idle_gaps.h"
#include "checks.h"
#include "unit/small_trace.h"
#include "unit/workload.h"

namespace fathom {
namespace {

using test::annotation;
using test::cpu_op;
using test::event_text;
using test::kernel;
using test::launch_call;

using Micros = std::map<std::string, double>;  // by cause

Micros idle_micros(const std::vector<std::string>& events,
                   std::optional<int64_t> steady_begin = {}) {
  const Trace trace = test::open_events(events);
  Scope scope;
  if (steady_begin) {
    const Nanos begin{*steady_begin * 1000}, end{2'000'000};
    scope.steady = Scope::SteadyState{{begin, end}, {Nanos{}, end}, Nanos{}};
  }
  const SheetInput input(trace.store, trace.tree, scope);
  const std::vector<DeviceWork> devices = work_by_device(input);
  const TimeBase base = find_time_base(input, devices);
  const IdleTime idle = explain_idle_time(input, base, devices);
  Micros times;
  for (size_t d = 0; d < idle.devices.size(); ++d) {
    Nanos all;
    for (size_t c = 0; c < kIdleCauses; ++c) {
      const Nanos time = idle.devices[d].by_cause[c];
      all += time;
      if (time.count > 0)
        times[std::string(idle_cause_name(static_cast<IdleCause>(c)))] += time.micros();
    }
    EXPECT_EQ(all, base.devices[d].idle) << "the parts add up";
  }
  return times;
}

std::string frame(std::string_view name, int64_t start, int64_t duration, int id) {
  return event_text("python_function", name, start, duration, fmt::format(R"("Python id":{})", id));
}

// A kernel from 10 to 20 µs, then one whose launch returns 3 µs before `start`.
std::vector<std::string> two_kernels(int64_t start, std::vector<std::string> between = {},
                                     std::string_view thread = "1") {
  std::vector<std::string> events = {launch_call(5, 4, 1), kernel("k", 10, 10, 1),
                                     launch_call(start - 5, 2, 2, thread),
                                     kernel("k", start, 10, 2)};
  events.insert(events.end(), between.begin(), between.end());
  return events;
}

TEST(IdleCauses, LateLaunchesAndQueuedWork) {
  // The recording begins at 5 µs; the first kernel at 10.
  EXPECT_EQ(idle_micros(two_kernels(60, {cpu_op("aten::add", 21, 38)})),
            (Micros{{"late_launch", 45}}));
  const std::vector<std::string> queued = {launch_call(5, 2, 1), launch_call(8, 2, 2),
                                           kernel("k", 10, 10, 1), kernel("k", 500, 10, 2, 8)};
  EXPECT_EQ(idle_micros(queued), (Micros{{"late_launch", 5}, {"queued", 480}}))
      << "launched before the gap: whatever the host did, it was not late";
}

TEST(IdleCauses, AfterALaunchOnlyItsLatencyIsLate) {
  const std::vector<std::string> events = {launch_call(5, 4, 1), kernel("k", 10, 10, 1),
                                           launch_call(30, 2, 2), kernel("k", 152, 10, 2)};
  EXPECT_EQ(idle_micros(events), (Micros{{"late_launch", 5 + 12 + 20}, {"queued", 100}}));
}

// Two GPUs: work of the first is held up by an event behind 400 µs of work of the second.
TEST(IdleCauses, QueuedWorkIsPutDownToTheCallThatMadeItsStreamWait) {
  const auto blamed = [](int64_t other_length, bool recorded) {
    const auto on = [](std::string_view name, int64_t start, int64_t length, int key, int device) {
      return event_text("kernel", name, start, length,
                        fmt::format(R"("device":{},"stream":7,"correlation":{})", device, key),
                        std::to_string(device), "7");
    };
    std::vector<std::string> events = {launch_call(5, 2, 1),
                                       on("own", 10, 10, 1, 0),
                                       launch_call(8, 2, 2),
                                       on("other", 12, other_length, 2, 1),
                                       launch_call(11, 1, 3, "1", "cudaEventRecord"),
                                       launch_call(13, 1, 4, "1", "cudaStreamWaitEvent"),
                                       launch_call(15, 2, 5),
                                       on("held up", 414, 10, 5, 0)};
    if (recorded)
      events.push_back(event_text("cuda_sync", "Stream Wait Event", 13, 1,
                                  R"("wait_on_stream":7,"wait_on_cuda_event_record_corr_id":3,)"
                                  R"("stream":7,"correlation":4,"device":0)",
                                  "0", "7"));
    const Trace trace = test::open_events(events);
    const Scope scope;
    const SheetInput input(trace.store, trace.tree, scope);
    const std::vector<DeviceWork> devices = work_by_device(input);
    const IdleTime idle = explain_idle_time(input, find_time_base(input, devices), devices);
    const auto& queued = idle.blamed[static_cast<size_t>(IdleCause::kQueued)];
    return queued.empty() ? std::string() : std::string(trace.store.name(queued.front().event));
  };
  EXPECT_EQ(blamed(400, true), "cudaStreamWaitEvent");
  EXPECT_EQ(blamed(400, false), "held up") << "nothing tells what it waited for";
  EXPECT_EQ(blamed(3, true), "held up") << "the event was reached long before";
}

// A wait for an event that had been reached, or for one behind which work went on.
TEST(IdleCauses, AWaitForAnEventThatIsReachedStallsNothing) {
  const auto run = [](int record) {
    return idle_micros(
        {launch_call(5, 2, 1), kernel("first", 10, 10, 1),
         launch_call(8, 1, 2, "1", "cudaEventRecord"), launch_call(11, 2, 3),
         kernel("second", 20, 120, 3), launch_call(15, 1, 4, "1", "cudaEventRecord"),
         launch_call(30, 112, 9, "1", "cudaEventSynchronize"),
         event_text("cuda_sync", "Event Sync", 30, 1,
                    fmt::format(R"("wait_on_stream":7,"wait_on_cuda_event_record_corr_id":{},)"
                                R"("stream":7,"correlation":9,"device":0)",
                                record),
                    "0", "7"),
         launch_call(185, 2, 5), kernel("third", 190, 10, 5)});
  };
  EXPECT_EQ(run(4), (Micros{{"late_launch", 5}, {"synchronization", 50}}));
  // That call had nothing to wait for: what it took after the GPU was dry is all that it cost.
  EXPECT_EQ(run(2), (Micros{{"late_launch", 5 + 48}, {"synchronization", 2}}));
}

TEST(IdleCauses, AWaitUntilTheGpuIsDryOwnsTheLaunchesAfterIt) {
  const auto run = [](int64_t wait_begin, int64_t pause) {
    const int64_t start = 142 + pause;
    return idle_micros({launch_call(5, 4, 1), kernel("k", 10, 130, 1),
                        launch_call(wait_begin, 141 - wait_begin, 9, "1", "cudaStreamSynchronize"),
                        launch_call(start - 5, 2, 2), kernel("k", start, 10, 2)});
  };
  // It waited 120 µs: as much earlier could all that follows have been launched.
  EXPECT_EQ(run(20, 80), (Micros{{"late_launch", 5}, {"synchronization", 82}}));
  EXPECT_EQ(run(20, 180), (Micros{{"late_launch", 5 + 61}, {"synchronization", 121}}));
  // It hardly waited: the host was late anyway.
  EXPECT_EQ(run(138, 80), (Micros{{"late_launch", 5 + 79}, {"synchronization", 3}}));
}

TEST(IdleCauses, ShortGapsAfterAWaitAreItsOwnToo) {
  std::vector<std::string> events = {launch_call(5, 4, 1), kernel("k", 10, 990, 1),
                                     launch_call(20, 981, 9, "1", "cudaStreamSynchronize")};
  for (int64_t i = 0; i < 10; ++i) {
    events.push_back(launch_call(1005 + 20 * i, 4, i + 20));
    events.push_back(kernel("k", 1010 + 20 * i, 12, i + 20));
  }
  const Micros times = idle_micros(events);
  EXPECT_EQ(times.at("synchronization"), 10 + 9 * 8);
  EXPECT_EQ(times.at("late_launch"), 5);
}

TEST(IdleCauses, AShortWaitDoesNotOwnWhatALongOneHeldUp) {
  const auto run = [](std::optional<int64_t> steady_begin) {
    std::vector<std::string> events = {launch_call(5, 4, 1), kernel("k", 10, 990, 1),
                                       launch_call(20, 981, 9, "1", "cudaStreamSynchronize")};
    for (int64_t i = 0; i < 10; ++i) {
      events.push_back(launch_call(1005 + 20 * i, 4, i + 20));
      events.push_back(kernel("k", 1010 + 20 * i, 12, i + 20));
    }
    // While the fifth kernel runs; it ends a microsecond after it.
    events.push_back(launch_call(1095, 8, 30, "1", "cudaMalloc"));
    return idle_micros(events, steady_begin);
  };
  const Micros whole = run({});
  EXPECT_EQ(whole.at("allocation"), 1);
  EXPECT_EQ(whole.at("synchronization"), 10 + 9 * 8 - 1);
  // The long wait is part of the start-up that is left out; the short one is not.
  const Micros steady = run(1024);
  EXPECT_FALSE(steady.contains("synchronization"));
  EXPECT_LE(steady.at("allocation"), 1 + 7) << "no more than it waited";
  EXPECT_GT(steady.at("late_launch"), 50);
}

TEST(IdleCauses, AWaitThatLeavesWorkOnTheGpuCostsNothing) {
  // An event of earlier work; the second kernel runs on while the host launches the third.
  const Micros times =
      idle_micros({launch_call(0, 2, 1), launch_call(3, 2, 2), kernel("k", 5, 95, 1),
                   kernel("k", 100, 200, 2), launch_call(10, 91, 9, "1", "cudaEventSynchronize"),
                   launch_call(380, 10, 3), kernel("k", 395, 10, 3)});
  EXPECT_FALSE(times.contains("synchronization"));
  EXPECT_EQ(times.at("late_launch"), 5 + 95);
}

// .item() copies to pageable memory: the copy's call waits, the synchronization after it is short.
TEST(IdleCauses, ACopyThatBlocksIsAWait) {
  const auto run = [](int64_t call_end) {
    return idle_micros({launch_call(0, 2, 1), kernel("k", 5, 95, 1), cpu_op("aten::item", 9, 160),
                        launch_call(10, call_end - 10, 3, "1", "cudaMemcpyAsync"),
                        event_text("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 100, 2,
                                   R"("correlation":3,"device":0,"stream":7)", "0", "7"),
                        launch_call(160, 4, 2), kernel("k", 166, 10, 2)});
  };
  EXPECT_EQ(run(105), (Micros{{"late_launch", 5}, {"synchronization", 64}}));
  EXPECT_EQ(run(14), (Micros{{"late_launch", 5 + 64}})) << "the call did not wait";
}

// What launches late inside an op that waits is that op's cost; beside it, it is not.
TEST(IdleCauses, AnOpThatWaitsOwnsItsLateLaunches) {
  const auto run = [](int64_t op_begin) {
    return idle_micros({launch_call(0, 2, 1), kernel("k", 5, 15, 1),
                        cpu_op("aten::nonzero", op_begin, 160 - op_begin), launch_call(100, 4, 2),
                        kernel("k", 106, 10, 2),
                        launch_call(110, 40, 9, "1", "cudaStreamSynchronize"),
                        launch_call(180, 4, 3), kernel("k", 186, 10, 3)});
  };
  EXPECT_EQ(run(30)["late_launch"] + 74, run(108)["late_launch"]);
  EXPECT_EQ(run(30)["synchronization"] - 74, run(108)["synchronization"]);
}

TEST(IdleCauses, Allocation) {
  EXPECT_EQ(idle_micros(two_kernels(200, {launch_call(30, 150, 9, "1", "cudaMalloc")})),
            (Micros{{"late_launch", 5 + 30}, {"allocation", 150}}));
  EXPECT_EQ(idle_micros(two_kernels(200, {launch_call(30, 150, 9, "1", "cudaMallocAsync")})),
            (Micros{{"late_launch", 185}}));
}

TEST(IdleCauses, FirstUse) {
  const auto with = [](const std::string& event) {
    return idle_micros(two_kernels(3000, {event}));
  };
  EXPECT_EQ(with(launch_call(30, 2900, 9, "1", "cuModuleLoadData"))["first_use"], 2900);
  EXPECT_EQ(with(annotation("compile_fx.<locals>.fw_compiler_base", 30, 2900))["first_use"], 2900);
  EXPECT_EQ(
      with(event_text("overhead", "Lazy Function Loading", 30, 2900, "", "-1", "0"))["first_use"],
      2900);
  EXPECT_FALSE(with(launch_call(30, 2900, 9, "1", "cudaFuncSetAttribute")).contains("first_use"));
  EXPECT_EQ(
      with(event_text("overhead", "Activity Buffer Request", 30, 2900, "", "-1", "0"))["profiler"],
      2900);
}

TEST(IdleCauses, TheStartUpOfALibraryIsFirstUseAsAWhole) {
  const auto run = [](std::string_view name, std::string_view call) {
    return idle_micros({launch_call(5, 4, 1), kernel("k", 10, 10, 1),
                        launch_call(500, 400, 9, "1", call),
                        launch_call(1500, 300, 8, "1", "cudaMalloc"), launch_call(2995, 2, 2),
                        kernel(name, 3000, 10, 2)});
  };
  Micros loaded = run("gemm", "cuLibraryLoadData");
  EXPECT_FALSE(loaded.contains("host_elsewhere"));
  EXPECT_FALSE(loaded.contains("allocation"));
  EXPECT_GT(loaded["first_use"], 2900);
  EXPECT_GT(run("k", "cuLibraryLoadData")["host_elsewhere"], 2000) << "it ran before";
  EXPECT_GT(run("gemm", "cudaGetDevice")["host_elsewhere"], 2000) << "nothing is loaded";
}

TEST(IdleCauses, ALaunchOfMillisecondsLoadsCode) {
  const auto run = [](int64_t length) {
    return idle_micros({launch_call(5, 4, 1), kernel("k", 10, 10, 1), launch_call(30, length, 2),
                        kernel("k", 30 + length, 10, 2)});
  };
  EXPECT_EQ(run(1500)["first_use"], 1500);
  EXPECT_EQ(run(500), (Micros{{"late_launch", 5 + 510}}));
}

TEST(IdleCauses, InputByLoaders) {
  const auto name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
  EXPECT_EQ(idle_micros(two_kernels(3000, {annotation(name, 30, 2900)}))["data_loading"], 2900);
  const std::string loader = "torch/utils/data/dataloader.py(700): __next__";
  EXPECT_EQ(idle_micros(two_kernels(3000, {frame(loader, 30, 2900, 1)}))["data_loading"], 2900);
  const std::string own = "train.py(700): __next__";
  EXPECT_EQ(idle_micros(two_kernels(3000, {frame(own, 30, 2900, 1)})).contains("data_loading"),
            false);
}

TEST(IdleCauses, PythonCodeThatFillsTheTime) {
  const auto run = [](int64_t length) {
    return idle_micros(two_kernels(length + 100, {frame("train.py(10): main", 0, length + 200, 1),
                                                  frame("train.py(30): prepare", 40, length, 2)}));
  };
  EXPECT_GT(run(3000)["host_code"], 2900);
  EXPECT_FALSE(run(300).contains("host_code")) << "short: part of late launches";
  EXPECT_GT(run(300)["late_launch"], 300);
}

TEST(IdleCauses, WhereNoEventIsOpenTheHostIsElsewhere) {
  EXPECT_GT(idle_micros(two_kernels(3000))["host_elsewhere"], 2900);
  EXPECT_FALSE(idle_micros(two_kernels(500)).contains("host_elsewhere"));
}

TEST(IdleCauses, WithoutALaunchNothingIsBlamed) {
  const Micros times =
      idle_micros({launch_call(5, 4, 1), kernel("k", 10, 10, 1), kernel("unlinked", 100, 10, 99)});
  EXPECT_EQ(times, (Micros{{"late_launch", 5}, {"no_launch_recorded", 80}}));
}

// Gradients are launched by a thread of their own, while the main thread tells what is late.
TEST(IdleCauses, TheMainThreadTellsWhereTheLaunchingThreadIsQuiet) {
  std::vector<std::string> events =
      two_kernels(3000, {launch_call(30, 2900, 9, "1", "cudaHostAlloc")}, "2");
  for (int64_t i = 0; i < 3; ++i) {
    events.push_back(launch_call(3020 + 10 * i, 2, 30 + i));
    events.push_back(kernel("k", 3025 + 10 * i, 8, 30 + i));
  }
  EXPECT_EQ(idle_micros(events)["allocation"], 2900);
}

TEST(IdleCauses, HostTimeBeforeTheFirstAndAfterTheLastKernelCounts) {
  const Micros times = idle_micros(
      {annotation("ProfilerStep#1", 0, 5000), cpu_op("aten::mm", 2000, 10), launch_call(2002, 2, 1),
       kernel("k", 2010, 100, 1), launch_call(3000, 1500, 9, "1", "cudaMalloc")});
  EXPECT_EQ(times.at("allocation"), 1500);
  EXPECT_EQ(times.at("host_elsewhere"), 2000 + 890 + 500);
}

TEST(IdleCauses, WorkWithoutADurationEndsAGap) {
  const Trace trace = test::open_events(
      {launch_call(0, 2, 1), kernel("k", 5, 10, 1), launch_call(40, 2, 2), kernel("k", 50, 0, 2)});
  const Scope scope;
  const SheetInput input(trace.store, trace.tree, scope);
  const IdleGaps found = find_idle_gaps(input, all_selected(input));
  ASSERT_EQ(found.gaps.size(), 1u);
  EXPECT_TRUE(found.gaps[0].before.valid());
  EXPECT_TRUE(found.gaps[0].after.valid());
}

TEST(IdleCauses, EachGpuIsExplainedByItself) {
  const Micros times = idle_micros({launch_call(0, 1, 1), launch_call(1, 1, 2),
                                    kernel("a", 0, 50, 1, 7, 0), kernel("b", 50, 50, 2, 7, 1),
                                    launch_call(48, 1, 3), kernel("a", 90, 10, 3, 7, 0)});
  double all = 0;
  for (const auto& [cause, time] : times) all += time;
  EXPECT_EQ(all, 40 + 50);
}

// The finding: the cause, its line, how the program asked for the wait, and what it takes a step.
std::vector<Finding> steps_with_item(bool waits) {
  test::Workload w;
  for (int i = 0; i < 5; ++i) {
    const int64_t begin = w.host();
    for (int k = 0; k < 8; ++k) w.op("aten::mm", test::kMatrix, test::kTwoBf16, 100);
    w.raw(cpu_op("aten::item", w.host(), std::max<int64_t>(10, w.gpu() - w.host() + 5)));
    w.raw(frame("model.py(69): mid", w.host() - 1, std::max<int64_t>(20, w.gpu() - w.host() + 20),
                i + 10));
    if (waits) w.synchronize();
    w.host_pause(250);
    w.raw(annotation(fmt::format("ProfilerStep#{}", i), begin, w.host() - begin));
  }
  return w.find();
}

TEST(IdleCauses, TheFindingNamesTheLine) {
  const std::vector<Finding> findings = steps_with_item(true);
  const Finding* f = test::first_finding(findings, FindingKind::kSynchronization);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f, &findings.front()) << findings.front().title;
  EXPECT_TRUE(f->title.ends_with(" a step: model.py:69 mid waits for the GPU (.item())"))
      << f->title;
  ASSERT_FALSE(f->places.empty());
  EXPECT_EQ(f->places[0].line, 69);
  EXPECT_EQ(test::first_finding(steps_with_item(false), FindingKind::kSynchronization), nullptr);
}

TEST(IdleCauses, ABusyGpuHasNoUrgentFinding) {
  test::Workload w;
  for (int i = 0; i < 10; ++i) {
    const int64_t begin = w.host();
    for (int k = 0; k < 20; ++k) w.op("aten::mm", test::kMatrix, test::kTwoBf16, 210);
    w.synchronize();
    w.raw(annotation(fmt::format("ProfilerStep#{}", i), begin, w.host() - begin));
  }
  for (const Finding& f : w.find()) EXPECT_GT(f.priority, Priority::kHigh) << f.title;
}

TEST(IdleCauses, ShortKernelsAreListedUnderLateLaunches) {
  test::Workload w;
  for (int i = 0; i < 200; ++i) w.op("aten::add", "[[8,8],[8,8]]", test::kTwoBf16, 3);
  const std::vector<Finding> findings = w.find();
  const Finding* cause = test::first_finding(findings, FindingKind::kHostBound);
  const Finding* symptom = test::first_finding(findings, FindingKind::kShortKernels);
  ASSERT_NE(cause, nullptr);
  ASSERT_NE(symptom, nullptr);
  EXPECT_EQ(symptom->under, cause->title);
  EXPECT_GT(symptom, cause);
}

}  // namespace
}  // namespace fathom
