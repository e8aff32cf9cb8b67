// Events as writers of all ages wrote them.
#include "checks.h"
#include "test_files.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::describe_diagnostics;
using test::event_text;
using test::find_event;
using test::read_trace_text;
using test::trace_text;

EventStore read_one(const std::string& event) { return read_trace_text(trace_text({event})); }

TEST(KinetoEvents, ProcessesAndThreadsMayBeTexts) {
  const EventStore s = read_trace_text(trace_text(
      {event_text("Trace", "PyTorch Profiler (0)", 1, 2, "", R"("Spans")", R"("PyTorch Profiler")"),
       event_text("cpu_op", "a", 1, 2, "", R"("Traces")", R"("")"),
       event_text("cpu_op", "b", 1, 2, "", "12", "-1")}));
  EXPECT_EQ(s.text(s.track(EventId(0)).pid), "Spans");
  EXPECT_EQ(s.text(s.track(EventId(1)).tid), "");
  EXPECT_EQ(s.text(s.track(EventId(2)).tid), "-1");
  EXPECT_EQ(describe_diagnostics(s.diagnostics()), "");
}

TEST(KinetoEvents, NumbersMayBeTextsOrHaveDecimals) {
  const EventStore s = read_one(
      event_text("gpu_memcpy", "Memcpy", 1, 2,
                 R"("bytes":"4096","device":"1","stream":7.0,"correlation":"88","context":null,)"
                 R"("blocks per SM":"inf","warps per SM":1.5,"memory bandwidth":NaN)"));
  const GpuWork& work = s.gpu_work(EventId(0));
  EXPECT_EQ(work.bytes, 4096);
  EXPECT_EQ(work.device, 1);
  EXPECT_EQ(work.stream, 7);
  EXPECT_EQ(work.key, (LaunchKey{88, false}));
  EXPECT_FALSE(work.context);
  EXPECT_EQ(describe_diagnostics(s.diagnostics()), "");
}

TEST(KinetoEvents, KernelsHaveTheirLaunchConfiguration) {
  const EventStore s = read_one(event_text(
      "kernel", "k", 1, 2,
      R"("grid":[132, 1, 2],"block":[128,1,1],"registers per thread":168,"shared memory":213000,)"
      R"("stream":20,"device":0,"context":1,"correlation":5)"));
  const GpuWork& work = s.gpu_work(EventId(0));
  ASSERT_TRUE(work.grid && work.block);
  EXPECT_EQ(work.grid->x, 132);
  EXPECT_EQ(work.grid->z, 2);
  EXPECT_EQ(work.block->x, 128);
  EXPECT_EQ(work.registers, 168);
  EXPECT_EQ(work.shared_memory, 213000);
  EXPECT_EQ(work.context, 1);
}

TEST(KinetoEvents, OnAmdStreamZeroIsNormalAndMuchIsUnknown) {
  const EventStore s = read_trace_text(trace_text(
      {event_text("cuda_runtime", "hipLaunchKernel", 1, 2, R"("cid":211,"correlation":9)"),
       event_text("kernel", "Cijk_Alik", 5, 2, R"("device":2,"stream":0,"correlation":9)", "2",
                  "0")}));
  EXPECT_EQ(s.kind(EventId(0)), EventKind::kRuntime);
  const GpuWork& work = s.gpu_work(EventId(1));
  EXPECT_EQ(work.stream, 0);
  EXPECT_EQ(work.device, 2);
  EXPECT_FALSE(work.registers || work.context || work.shared_memory || work.grid || work.bytes);
}

TEST(KinetoEvents, DeviceAndStreamComeFromTheTrackWhereArgsDoNotSay) {
  const EventStore s = read_one(event_text("kernel", "k", 1, 2, "", "3", "\"20\""));
  EXPECT_EQ(s.gpu_work(EventId(0)).device, 3);
  EXPECT_EQ(s.gpu_work(EventId(0)).stream, 20);
}

TEST(KinetoEvents, OldSpellingsOfCategories) {
  const EventStore s = read_trace_text(
      trace_text({event_text("Operator", "op", 1, 2), event_text("Runtime", "call", 1, 2),
                  event_text("Kernel", "k", 1, 2), event_text("Memcpy", "c", 1, 2),
                  event_text("Memset", "m", 1, 2)}));
  const std::vector<EventKind> expected = {EventKind::kCpuOp, EventKind::kRuntime,
                                           EventKind::kKernel, EventKind::kMemcpy,
                                           EventKind::kMemset};
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(s.kind(EventId(i)), expected[i]) << i;
  EXPECT_EQ(describe_diagnostics(s.diagnostics()), "");
}

TEST(KinetoEvents, ArrowsAndNamesCountAsEntriesWithoutARow) {
  const EventStore s = read_trace_text(
      trace_text({R"({"ph":"M","name":"process_name","pid":1,"tid":0,"args":{"name":"python"}})",
                  test::cpu_op("a", 1, 2),
                  R"({"ph":"s","cat":"async_cpu_to_gpu","name":"x","id":7,"pid":1,"tid":1,"ts":1})",
                  R"({"ph":"f","cat":"async_gpu","name":"x","id":"7","pid":0,"tid":7,"ts":2})",
                  R"({"ph":"f","cat":"ac2g","name":"ac2g","id":7,"pid":0,"tid":7,"ts":2,"bp":"e"})",
                  test::cpu_op("b", 3, 2)}));
  EXPECT_EQ(test::uids(s), (std::vector<int64_t>{1, 5}));
  EXPECT_EQ(s.entries(), 6);
  EXPECT_EQ(describe_diagnostics(s.diagnostics()), "");
}

TEST(KinetoEvents, EveryCategoryOfTodayIsKnown) {
  for (const char* category :
       {"python_function", "cpu_op", "cuda_runtime", "kernel", "gpu_memcpy", "user_annotation",
        "gpu_memset", "cuda_driver", "cuda_sync", "gpu_user_annotation", "cuda_profiler_range",
        "Trace", "overhead", "mtia_ccp_events"}) {
    EXPECT_EQ(describe_diagnostics(read_one(event_text(category, "x", 1, 2)).diagnostics()), "")
        << category;
  }
  const EventStore s = read_one(event_text("new_in_2031", "x", 1, 2));
  EXPECT_EQ(s.kind(EventId(0)), EventKind::kOther);
  EXPECT_EQ(describe_diagnostics(s.diagnostics()), "unknown_category 1 (new_in_2031)\n");
}

TEST(KinetoEvents, ATritonOpWithAStreamIsNoGpuEvent) {
  const EventStore s = read_one(event_text(
      "cpu_op", "triton_poi_fused_0", 1, 2,
      R"("kernel_backend":"triton","kernel_kwargs":"XBLOCK=1024","stream":0,"num_warps":4,)"
      R"("grid":"grid[65536]")"));
  EXPECT_EQ(s.kind(EventId(0)), EventKind::kCpuOp);
}

TEST(KinetoEvents, PythonFramesMayHaveNoParent) {
  const EventStore s = read_one(
      event_text("python_function", "f", 1, 2, R"("Python id":4,"Python parent id":null)"));
  EXPECT_EQ(s.frame(EventId(0)).id, 4);
  EXPECT_FALSE(s.frame(EventId(0)).parent);
}

TEST(KinetoEvents, CountersOfHardwareAreKept) {
  const EventStore s = read_one(
      R"({"ph":"C","cat":"hardware_counters","name":"sm__cycles","pid":"GPU 0 Counters","tid":0,)"
      R"("ts":5.25,"args":{"":12.5}})");
  EXPECT_EQ(s.kind(EventId(0)), EventKind::kCounter);
  EXPECT_EQ(s.start(EventId(0)), Nanos{5250});
  EXPECT_EQ(describe_diagnostics(s.diagnostics()), "");
}

TEST(KinetoEvents, TheOrderOfKeysIsFree) {
  const EventStore a = read_one(
      R"({"args":{"correlation":5},"dur":2.5,"ts":1,"tid":7,"pid":0,"name":"k","cat":"kernel","ph":"X"})");
  const EventStore b = read_one(
      R"({"ph":"X", "cat" : "kernel" ,"name":"k","pid":0 ,"tid":7,"ts":1,"dur":2.5 ,"args":{"correlation":5 } })");
  EXPECT_EQ(test::describe_events(a), test::describe_events(b));
  EXPECT_EQ(a.duration(EventId(0)), Nanos{2500});
}

TEST(KinetoEvents, ArgsThatAreNoObjectHoldNothing) {
  const EventStore s = read_trace_text(trace_text(
      {R"({"ph":"X","cat":"cpu_op","name":"a","args":null,"pid":1,"tid":1,"ts":1,"dur":2})",
       R"({"ph":"X","cat":"cpu_op","name":"b","args":[1,{"correlation":5}],"pid":1,"tid":1,"ts":3,"dur":1})",
       R"({"ph":"X","cat":"cpu_op","name":"c","args":"x","pid":1,"tid":1,"ts":5,"dur":2})"}));
  EXPECT_EQ(s.duration(find_event(s, "a")), Nanos{2000});
  EXPECT_EQ(s.start(find_event(s, "b")), Nanos{3000});
  EXPECT_EQ(s.duration(find_event(s, "c")), Nanos{2000});
  EXPECT_EQ(describe_diagnostics(s.diagnostics()), "");
}

TEST(KinetoEvents, EqualArgumentsAreOne) {
  const EventStore s = read_trace_text(trace_text(
      {test::cpu_op("a", 1, 2, R"("Input Dims":[[2,3]],"Input type":["long int"])"),
       test::cpu_op("b", 3, 2, R"("Input type" : [ "long int" ] , "Input Dims" : [ [ 2, 3 ] ])"),
       test::cpu_op("c", 5, 2, R"("Input Dims":[[2,4]],"Input type":["long int"])"),
       test::cpu_op("d", 7, 2, R"("Input Dims":null)"), test::cpu_op("e", 9, 2)}));
  EXPECT_EQ(s.args_id(EventId(0)), s.args_id(EventId(1)));
  EXPECT_NE(s.args_id(EventId(0)), s.args_id(EventId(2)));
  EXPECT_FALSE(s.args_id(EventId(3)).valid());
  EXPECT_FALSE(s.args_id(EventId(4)).valid());
  EXPECT_EQ(s.text(s.args(s.args_id(EventId(0))).types), "[\"long int\"]");
}

TEST(KinetoEvents, ArgumentsAreReadByTheirKeysInAnyOrder) {
  const EventStore s = read_trace_text(
      trace_text({test::cpu_op("a", 1, 2,
                               R"("Input Dims":[[2]],"Input type":["f"],"Input Strides":[[1]],)"
                               R"("Concrete Inputs":[""])"),
                  test::cpu_op("b", 3, 2,
                               R"("Input Strides":[[2]],"Input type":["f"],"Input Dims":[[1]],)"
                               R"("Concrete Inputs":[""])"),
                  test::cpu_op("c", 5, 2,
                               R"("Concrete Inputs":[[2]],"Input type":["f"],"Input Dims":[[1]],)"
                               R"("Input Strides":[""])")}));
  const auto shown = [&s](const char* name) {
    const Args& args = s.args(s.args_id(find_event(s, name)));
    return std::string(s.text(args.dims)) + " " + std::string(s.text(args.strides)) + " " +
           std::string(s.text(args.concrete));
  };
  EXPECT_EQ(shown("a"), "[[2]] [[1]] [\"\"]");
  EXPECT_EQ(shown("b"), "[[1]] [[2]] [\"\"]");
  EXPECT_EQ(shown("c"), "[[1]] [\"\"] [[2]]");
}

TEST(KinetoEvents, NamesOfProcessesAndThreadsReachEventsBeforeThem) {
  const EventStore s = read_trace_text(trace_text(
      {test::cpu_op("a", 1, 2), test::cpu_op("b", 1, 2, "", "2"),
       R"({"ph":"M","name":"process_name","pid":1,"tid":0,"ts":0,"args":{"name":"python"}})",
       R"({"ph":"M","name":"process_labels","pid":1,"tid":0,"args":{"labels":"CPU"}})",
       R"({"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"thread 2 autograd"}})"}));
  EXPECT_EQ(s.text(s.track(EventId(0)).process_name), "python");
  EXPECT_EQ(s.text(s.track(EventId(1)).process_label), "CPU");
  EXPECT_EQ(s.text(s.track(EventId(1)).thread_name), "thread 2 autograd");
  EXPECT_FALSE(s.track(EventId(0)).thread_name.valid());
}

TEST(KinetoEvents, WhatIsSkippedKeepsItsPlaceAndIsCounted) {
  const EventStore s = read_trace_text(
      trace_text({R"({"ph":"X","cat":"cpu_op","name":"no time","pid":1,"tid":1})", "17",
                  R"({"ph":"B","cat":"cpu_op","name":"other phase","pid":1,"tid":1,"ts":1})",
                  R"({"ph":"X","cat":"cpu_op","name":"backwards","pid":1,"tid":1,"ts":5,"dur":-3})",
                  test::cpu_op("good", 1, 2)}));
  EXPECT_EQ(test::uids(s), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(s.entries(), 5);
  EXPECT_EQ(s.duration(find_event(s, "backwards")), Nanos{0});
  EXPECT_EQ(s.diagnostics().count(Flaw::kMissingTime), 1);
  EXPECT_EQ(s.diagnostics().count(Flaw::kNotAnObject), 1);
  EXPECT_EQ(s.diagnostics().count(Flaw::kUnknownPhase), 1);
  EXPECT_EQ(s.diagnostics().count(Flaw::kNegativeDuration), 1);
  EXPECT_EQ(s.diagnostics().skipped_events(), 3);
}

TEST(KinetoEvents, AnEventWithoutADurationHasNoneAndIsCounted) {
  const EventStore s = read_one(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1})");
  EXPECT_EQ(s.size(), 1u);
  EXPECT_EQ(s.duration(EventId(0)), Nanos{0});
  EXPECT_EQ(s.diagnostics().count(Flaw::kMissingDuration), 1);
}

TEST(KinetoEvents, CollectivesAreReadFromOpsAndKernels) {
  constexpr const char* facts =
      R"("Collective name":"allreduce","In msg nelems":1024,"Out msg nelems":1024,)"
      R"("dtype":"Float","Group size":8,"Process Group Name":"0","Process Group Description":)"
      R"("default_pg","Process Group Ranks":"[0, 1]","In split size":"[]","Rank":3,"Seq":12)";
  const EventStore s = read_trace_text(
      trace_text({event_text("cpu_op", "record_param_comms", 1, 2, facts), test::cpu_op("no", 1, 2),
                  event_text("kernel", "ncclKernel", 5, 2, facts, "0", "20")}));
  ASSERT_EQ(s.collectives().size(), 2u);
  EXPECT_EQ(s.collective(EventId(1)), nullptr);
  const Collective* c = s.collective(EventId(2));
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(s.text(c->name), "allreduce");
  EXPECT_EQ(c->group_size, 8);
  EXPECT_EQ(c->in_elements, 1024);
  EXPECT_EQ(c->rank, 3);
  EXPECT_EQ(c->sequence, 12);
  EXPECT_EQ(s.text(c->group_ranks), "[0, 1]");
}

TEST(KinetoEvents, AnEventWithoutANameIsReadLikeAnyOther) {
  const test::TemporaryDirectory directory;
  test::write_file(directory.path() / "a.json",
                   R"([{"ph":"X","cat":"kernel","pid":0,"tid":7,"ts":1,"dur":2}])");
  test::write_file(directory.path() / "b.json",
                   R"([{"ph":"X","cat":"kernel","name":"","pid":0,"tid":7,"ts":1,"dur":2}])");
  for (const char* trace : {"a.json", "b.json"}) {  // in their own processes: a fault is a crash
    const test::CommandResult run =
        test::run_command(test::fathom_binary() + " analyze --json " + trace, directory.path());
    EXPECT_EQ(run.exit_code, 0) << trace << "\n" << run.errors;
    EXPECT_NE(run.output.find("\"gpu_events\": 1"), std::string::npos) << trace;
  }
}

}  // namespace
}  // namespace fathom
