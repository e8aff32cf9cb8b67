// Findings about a GPU that is idle, or busy with copies and communication: where they fire, and
// near twins where they must not.
#include <fmt/format.h>

#include "analyze/finding_parts.h"
#include "analyze/idle_sheets.h"
#include "checks.h"
#include "unit/workload.h"

namespace fathom {
namespace {

using test::first_finding;
using test::kMatrix;
using test::kTwoBf16;
using test::Workload;

TEST(IdleFindings, GraphsAreNotAdvisedWhereTheyAreUsed) {
  const auto advice = [](const char* launch) {
    Workload w;
    for (int i = 0; i < 50; ++i) w.op("aten::add", "[[8,8],[8,8]]", kTwoBf16, 3);
    const int64_t correlation = w.next_correlation();
    w.raw(test::launch_call(w.host(), 4, correlation, "1", launch));
    w.raw(test::kernel("k", w.host() + 7, 3, correlation));
    return first_finding(w.find(), FindingKind::kHostBound)->change_code;
  };
  EXPECT_TRUE(advice("cudaLaunchKernel").starts_with("Reduce launches: CUDA graphs"));
  EXPECT_TRUE(advice("cudaGraphLaunch").starts_with("CUDA graphs already cover part"));
}

// The causes are those of the eight busiest GPUs with work worth telling of; what the others waited
// stands beside them, and each share is of the wall time.
TEST(IdleFindings, TheSheetsSharesAreOfTheGpusTheyTellOf) {
  for (const int64_t gpus : {1, 8, 9, 40}) {
    Workload w;
    for (int64_t i = 0; i < gpus * 4; ++i) {
      const int64_t correlation = w.next_correlation();
      w.raw(test::launch_call(100 + 10 * i, 4, correlation));
      w.raw(test::kernel("k", 107 + 10 * i, 3, correlation, 7, i % gpus));
    }
    w.assess([gpus](const Assessment& a) {
      const std::vector<Table> sheets = idle_sheets(a);
      const Table& causes = sheets.at(0);
      ASSERT_EQ(causes.name(), "idle_causes");
      double told = 0;
      bool any_other = false;
      for (size_t row = 0; row < causes.rows(); ++row) {
        const double percent = causes.columns().back().number(row);
        const bool is_other = causes.columns().front().text(row) == "other_gpus";
        EXPECT_LE(percent, 100);
        any_other |= is_other;
        if (!is_other) told += percent;
      }
      EXPECT_GT(told, 0);
      EXPECT_LE(told, 100.001);
      EXPECT_EQ(any_other, gpus > 8);
    });
  }
}

TEST(IdleFindings, TheGpuWaitsForLaunches) {
  Workload bound, ahead;
  for (int i = 0; i < 50; ++i) {
    bound.op("aten::add", "[[8,8],[8,8]]", kTwoBf16, 3);
    ahead.op("aten::add", "[[8,8],[8,8]]", kTwoBf16, 30);
  }
  const auto findings = bound.find();
  const Finding* f = first_finding(findings, FindingKind::kHostBound);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->priority, Priority::kCritical);
  EXPECT_TRUE(f->improve_kernel.empty()) << "no kernel is at fault";
  EXPECT_EQ(first_finding(ahead.find(), FindingKind::kHostBound), nullptr);
}

TEST(IdleFindings, SynchronizationKeepsTheHostFromLaunchingAhead) {
  const auto run = [](bool synchronizes) {
    Workload w;
    for (int i = 0; i < 20; ++i) {
      for (int k = 0; k < 4; ++k) w.op("aten::add", "[[8,8],[8,8]]", kTwoBf16, 40);
      if (synchronizes) w.synchronize();
    }
    return w.find();
  };
  const auto findings = run(true);
  const Finding* f = first_finding(findings, FindingKind::kSynchronization);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(first_finding(findings, FindingKind::kHostBound), nullptr) << "each gap has one cause";
  EXPECT_EQ(first_finding(run(false), FindingKind::kSynchronization), nullptr);
}

// cudnn.benchmark: the library times its algorithms inside of one op.
TEST(IdleFindings, ASearchForKernelsInEachStepIsNoWarmUp) {
  const auto searched = [](int trials, bool in_each_step) {
    Workload w;
    for (int step = 0; step < 3; ++step) {
      const int64_t begin = w.host();
      for (int k = 0; k < 20; ++k) w.op("aten::add", "[[8,8],[8,8]]", kTwoBf16, 30);
      if (step == 0 || in_each_step) {
        w.synchronize();
        w.raw(test::cpu_op("aten::cudnn_convolution", w.host(), 3000));
        for (int i = 0; i < trials; ++i) {
          w.raw(test::launch_call(w.host() + 500 * i + 5, 20, w.next_correlation(), "1",
                                  "cudaEventSynchronize"));
        }
        w.host_pause(3010);
      }
      w.raw(test::annotation(fmt::format("ProfilerStep#{}", step), begin, w.host() - begin));
    }
    return w.find();
  };
  const auto always = searched(5, true), once = searched(5, false), never = searched(1, true);
  const Finding* f = first_finding(always, FindingKind::kFirstUse);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->priority, Priority::kCritical);
  EXPECT_NE(f->title.find("compiled, tuned or captured again"), std::string::npos);
  EXPECT_NE(f->change_code.find("cudnn.benchmark"), std::string::npos);
  const Finding* warm_up = first_finding(once, FindingKind::kFirstUse);
  ASSERT_NE(warm_up, nullptr);
  EXPECT_TRUE(warm_up->title.starts_with("Warm-up"));
  EXPECT_EQ(first_finding(never, FindingKind::kFirstUse), nullptr) << "one wait is no search";
}

TEST(IdleFindings, DataLoadingAndFirstUse) {
  const auto pauses = [](const char* what) {
    Workload w;
    for (int i = 0; i < 10; ++i) {
      for (int k = 0; k < 4; ++k) w.op("aten::add", "[[8,8],[8,8]]", kTwoBf16, 30);
      w.annotate(what, 2000).host_pause(2000);
    }
    return w.find();
  };
  EXPECT_NE(first_finding(pauses("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"),
                          FindingKind::kDataLoading),
            nullptr);
  EXPECT_NE(first_finding(pauses("compile_fx.<locals>.fw_compiler_base"), FindingKind::kFirstUse),
            nullptr);
  const auto other = pauses("forward");
  EXPECT_EQ(first_finding(other, FindingKind::kDataLoading), nullptr);
  EXPECT_EQ(first_finding(other, FindingKind::kFirstUse), nullptr);
  EXPECT_NE(first_finding(other, FindingKind::kHostWork), nullptr);
}

TEST(IdleFindings, ALongPauseIsNotTheWaitBeforeItNorSlowLaunching) {
  const auto run = [](int64_t pause) {
    Workload w;
    for (int i = 0; i < 10; ++i) {
      for (int k = 0; k < 4; ++k) w.op("aten::add", "[[8,8],[8,8]]", kTwoBf16, 40);
      w.synchronize().host_pause(pause);
    }
    return w.find();
  };
  const auto away = run(50'000);
  EXPECT_NE(first_finding(away, FindingKind::kHostWork), nullptr);
  EXPECT_EQ(first_finding(away, FindingKind::kSynchronization), nullptr);
  EXPECT_EQ(first_finding(away, FindingKind::kHostBound), nullptr);
  const auto waits = run(100);
  EXPECT_NE(first_finding(waits, FindingKind::kSynchronization), nullptr);
  EXPECT_EQ(first_finding(waits, FindingKind::kHostWork), nullptr);
}

TEST(IdleFindings, IdleTimeIsThatOfTheTimeline) {
  Workload w;
  w.raw(test::kernel("in_flight", 0, 5, 999)).host_pause(4000);
  w.op("aten::add", "[[8,8],[8,8]]", kTwoBf16, 5);
  for (const Finding& f : w.find()) EXPECT_LE(f.share, 1) << f.title;
}

TEST(IdleFindings, AFirstCallThatFillsTheGapIsFirstUse) {
  // An op whose call takes so long, then the same op as usual.
  const auto run = [](int64_t first, int64_t later) {
    Workload w;
    w.op("aten::add", "[[8,8],[8,8]]", kTwoBf16, 30);
    for (const int64_t length : {first, later, later}) {
      w.raw(test::cpu_op("aten::attention", w.host(), length, ""));
      w.host_pause(length - 20).op("aten::mul", "[[8,8],[8,8]]", kTwoBf16, 30).host_pause(20);
    }
    return w.find();
  };
  EXPECT_NE(first_finding(run(80'000, 100), FindingKind::kFirstUse), nullptr);
  EXPECT_EQ(first_finding(run(80'000, 70'000), FindingKind::kFirstUse), nullptr)
      << "always so slow";
}

// cuDNN's attention while a cache grows: the first call of each length takes long.
TEST(IdleFindings, AnOpThatIsPreparedForEachNewSizeIsNoWarmUp) {
  const auto decode = [](bool grows) {
    Workload w;
    for (int step = 0; step < 3; ++step) {
      const int64_t begin = w.host();
      for (int layer = 0; layer < 4; ++layer) {
        const int64_t length = layer == 0 ? 8000 : 50;
        w.raw(test::cpu_op("aten::attention", w.host(), length,
                           fmt::format(R"("Input Dims": [[1,{},64]], "Input type": ["float"])",
                                       grows ? 100 + step : 100)));
        w.host_pause(length - 20).op("aten::mul", "[[8,8],[8,8]]", kTwoBf16, 30).host_pause(20);
      }
      w.raw(test::annotation(fmt::format("ProfilerStep#{}", step), begin, w.host() - begin));
    }
    return w.find();
  };
  const auto growing = decode(true), same = decode(false);
  const Finding* f = first_finding(growing, FindingKind::kFirstUse);
  ASSERT_NE(f, nullptr);
  EXPECT_NE(f->title.find("compiled, tuned or captured again"), std::string::npos) << f->title;
  f = first_finding(same, FindingKind::kFirstUse);
  EXPECT_TRUE(f == nullptr || f->title.starts_with("Warm-up")) << "slow for another reason";
}

TEST(IdleFindings, ExposedCommunication) {
  const auto collectives = [](bool hidden) {
    Workload w;
    for (int i = 0; i < 10; ++i) {
      w.op("aten::mm", kMatrix, kTwoBf16, 200);
      const int64_t correlation = w.next_correlation();
      w.raw(test::launch_call(w.host() - 3, 1, correlation));
      // Beside the product, or after it on a stream of its own with nothing else to run.
      w.raw(test::kernel("ncclDevKernel_AllReduce", hidden ? w.gpu() - 100 : w.gpu(), 80,
                         correlation, 20));
      if (!hidden) w.op("aten::mm", kMatrix, kTwoBf16, 200, "k", 80);
    }
    return w.find();
  };
  EXPECT_NE(first_finding(collectives(false), FindingKind::kExposedCommunication), nullptr);
  EXPECT_EQ(first_finding(collectives(true), FindingKind::kExposedCommunication), nullptr);
}

// The same copies, beside the products on a stream of their own or between them.
TEST(IdleFindings, ExposedCopies) {
  const auto copies = [](bool hidden) {
    Workload w;
    for (int i = 0; i < 10; ++i) {
      w.op("aten::mm", kMatrix, kTwoBf16, 200);
      const int64_t correlation = w.next_correlation();
      w.raw(test::cpu_op("aten::copy_", w.host(), 8));
      w.raw(test::launch_call(w.host() + 2, 1, correlation, "1", "cudaMemcpyAsync"));
      w.raw(test::event_text(
          "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", hidden ? w.gpu() - 100 : w.gpu(), 80,
          // On a stream of its own that never overlaps it would be copies_in_turns.
          fmt::format(R"("correlation":{},"device":0,"stream":{},"bytes":1000000)", correlation,
                      hidden ? 20 : 7),
          "0", hidden ? "20" : "7"));
      w.host_pause(10);
      if (!hidden) w.op("aten::mm", kMatrix, kTwoBf16, 200, "k", 80);
    }
    return w.find();
  };
  const auto findings = copies(false);
  const Finding* f = first_finding(findings, FindingKind::kExposedCopies);
  ASSERT_NE(f, nullptr);
  EXPECT_EQ(f->category, "memcpy");
  EXPECT_EQ(f->time.micros(), 10 * 80);
  EXPECT_EQ(f->issue, "800.0 µs of 800.0 µs does not overlap with computation.");
  EXPECT_EQ(f->notes.at(0).name, "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(first_finding(copies(true), FindingKind::kExposedCopies), nullptr);
}

// What a copy engine does is a copy, whatever the op is called; a kernel that copies is not.
TEST(IdleFindings, CopiesOfTheCopyEngineAreNoElementwiseOps) {
  const auto category = [](const char* kind) {
    const std::vector<std::string> events = {
        test::cpu_op("aten::copy_", 0, 10,
                     R"("Input Dims":[[1024],[1024]],"Input type":["float","float"])"),
        test::launch_call(2, 1, 1),
        test::event_text(kind, "Memcpy DtoD", 20, 30, R"("correlation":1,"device":0,"stream":7)",
                         "0", "7")};
    const Trace trace = test::open_events(events);
    const Scope scope;
    const SheetInput input(trace.store, trace.tree, scope);
    const MeasuredOps ops(input, find_launchers(input));
    const Assessment assessment(input, ops, nullptr);
    return std::string(assessment.categories().at(0).name);
  };
  EXPECT_EQ(category("gpu_memcpy"), "memcpy");
  EXPECT_EQ(category("kernel"), "elementwise");
}

TEST(IdleFindings, ManyShortKernels) {
  Workload many, few;
  for (int i = 0; i < 200; ++i) {
    many.op("aten::add", "[[8,8],[8,8]]", kTwoBf16, 5);
    few.op("aten::mm", kMatrix, kTwoBf16, 200);
  }
  EXPECT_NE(first_finding(many.find(), FindingKind::kShortKernels), nullptr);
  EXPECT_EQ(first_finding(few.find(), FindingKind::kShortKernels), nullptr);
}

// A function that another one calls for each request: the loop is named beside it.
TEST(IdleFindings, LateLaunchesOfAFunctionInALoopNameTheLoop) {
  const auto serve = [](bool one_module) {
    Workload w;
    int id = 0;
    const auto frame = [&](std::string_view name, int64_t length) {
      w.raw(test::event_text("python_function", name, w.host(), length,
                             fmt::format(R"("Python id":{})", ++id)));
    };
    frame("serve.py(40): answer", 24 * 14);
    for (int i = 0; i < 24; ++i) {
      frame(fmt::format("nn.Module: Scorer_{}", one_module ? 0 : i), 12);
      frame("model.py(7): forward", 11);
      w.op("aten::add", "[[8,8],[8,8]]", kTwoBf16, 1);
      w.host_pause(4);
    }
    const auto findings = w.find();
    const Finding* f = first_finding(findings, FindingKind::kHostBound);
    std::string text;
    if (f != nullptr)
      for (const Note& note : f->notes) text += note.name + note.after;
    return text;
  };
  EXPECT_TRUE(serve(true).starts_with("serve.py:40 answer calls model.py:7 forward 24 times"))
      << serve(true);
  EXPECT_EQ(serve(false), "") << "layers of a model are called one by one";
}

TEST(ShownFrame, NamesBuiltInMethodsAsPeopleWriteThem) {
  EXPECT_EQ(shown_frame("<built-in method item of Tensor object at 0x7f5c91e0f340>"),
            "Tensor.item (built-in)");
  EXPECT_EQ(shown_frame("<built-in method cat of type object at 0x7f5c91e0f340>"),
            "cat (built-in)");
  EXPECT_EQ(shown_frame("<built-in method f of pybind11_builtins.record_v1 object at 0x7f>"),
            "f (built-in)");
  EXPECT_EQ(shown_frame("<built-in function len>"), "len (built-in)");
  EXPECT_EQ(shown_frame("model.py(3): forward of <A object at 0x7f12>"),
            "model.py(3): forward of <A object>");
  EXPECT_EQ(shown_frame("<built-in method "), "<built-in method ");
}

}  // namespace
}  // namespace fathom
