#include "sheets/gpu_selection.h"

#include "checks.h"
#include "sheets/sheets.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::annotation;
using test::gpu_annotation;
using test::kernel;
using test::launch_call;
using test::micros;
using test::names_of;
using test::open_events;
using NameList = std::vector<std::string>;

Scope only_steps(size_t begin, size_t end) {
  Scope scope;
  scope.steps = Scope::StepRange{begin, end};
  return scope;
}

NameList linked(const Trace& t, const Scope& scope) {
  return names_of(t.store, GpuSelection(t.store, t.tree, scope).linked());
}

NameList unlinked(const Trace& t, const Scope& scope) {
  return names_of(t.store, GpuSelection(t.store, t.tree, scope).unlinked());
}

// Two steps; b is launched in the first and runs in the second; x runs in none.
Trace two_steps() {
  return open_events({annotation("ProfilerStep#1", 0, 100), annotation("ProfilerStep#2", 100, 100),
                      launch_call(10, 5, 1), launch_call(90, 5, 2), launch_call(110, 5, 3),
                      launch_call(300, 5, 4), kernel("a", 20, 5, 1), kernel("b", 150, 5, 2),
                      kernel("c", 180, 5, 3), kernel("x", 310, 5, 4)});
}

TEST(GpuSelection, WithoutAScopeEverythingIsSelected) {
  const Trace t = two_steps();
  EXPECT_EQ(linked(t, {}), (NameList{"a", "b", "c", "x"}));
}

TEST(GpuSelection, WorkBelongsToTheStepThatLaunchedIt) {
  const Trace t = two_steps();
  EXPECT_EQ(linked(t, only_steps(0, 1)), (NameList{"a", "b"}));
  EXPECT_EQ(linked(t, only_steps(1, 2)), NameList{"c"});
  EXPECT_EQ(linked(t, only_steps(0, 2)), (NameList{"a", "b", "c"}));
  EXPECT_EQ(linked(t, only_steps(1, SIZE_MAX)), NameList{"c"});
  EXPECT_EQ(linked(t, only_steps(2, 3)), NameList{});
}

TEST(GpuSelection, ThePatternSaysWhatAStepIs) {
  const Trace t = open_events({annotation("decode 1", 0, 100), annotation("ProfilerStep#1", 0, 9),
                               annotation("decode 2", 100, 100), launch_call(110, 5, 1),
                               kernel("k", 150, 5, 1)});
  Scope scope = only_steps(1, 2);
  scope.step_pattern = "decode*";
  EXPECT_EQ(linked(t, scope), NameList{"k"});
  EXPECT_EQ(linked(t, only_steps(0, 1)), NameList{});
}

TEST(GpuSelection, OneDeviceOnly) {
  const Trace t =
      open_events({launch_call(0, 5, 1), launch_call(10, 5, 2), kernel("on 0", 20, 5, 1, 7, 0),
                   kernel("on 1", 20, 5, 2, 7, 1), kernel("lost on 1", 40, 5, 99, 7, 1)});
  Scope scope;
  scope.device = 1;
  EXPECT_EQ(linked(t, scope), NameList{"on 1"});
  EXPECT_EQ(unlinked(t, scope), NameList{"lost on 1"});
  scope.device = 2;
  EXPECT_EQ(linked(t, scope), NameList{});
}

TEST(GpuSelection, WorkWithoutALaunchBelongsToTheStepThatItsDeviceWasIn) {
  const Trace t =
      open_events({annotation("ProfilerStep#1", 0, 100), annotation("ProfilerStep#2", 100, 100),
                   gpu_annotation("ProfilerStep#1", 150, 100, 7),
                   gpu_annotation("ProfilerStep#2", 250, 100, 7), launch_call(0, 1, 90),
                   kernel("u1", 160, 5, 91), kernel("u2", 260, 5, 92), kernel("u3", 900, 5, 93)});
  EXPECT_EQ(unlinked(t, {}), (NameList{"u1", "u2", "u3"}));
  EXPECT_EQ(unlinked(t, only_steps(0, 1)), NameList{"u1"});
  EXPECT_EQ(unlinked(t, only_steps(1, 2)), NameList{"u2"});
}

// Kineto writes a step's GPU annotation once for each stream that worked in it, and none for a step
// without GPU work: their places in the list are not the numbers of the steps.
TEST(GpuSelection, GpuAnnotationsOfOneStepOnSeveralStreamsAreOneStep) {
  const Trace t = open_events(
      {annotation("ProfilerStep#1", 0, 100), annotation("ProfilerStep#2", 100, 100),
       gpu_annotation("ProfilerStep#1", 150, 90, 7), gpu_annotation("ProfilerStep#1", 160, 50, 20),
       gpu_annotation("ProfilerStep#2", 250, 90, 7), gpu_annotation("ProfilerStep#2", 255, 50, 20),
       launch_call(0, 1, 90), kernel("u1", 170, 5, 91), kernel("u2", 260, 5, 92)});
  EXPECT_EQ(unlinked(t, only_steps(0, 1)), NameList{"u1"});
  EXPECT_EQ(unlinked(t, only_steps(1, 2)), NameList{"u2"});
}

TEST(GpuSelection, AStepWithoutGpuWorkKeepsItsNumber) {
  const Trace t =
      open_events({annotation("ProfilerStep#1", 0, 100), annotation("ProfilerStep#2", 100, 100),
                   gpu_annotation("ProfilerStep#2", 250, 90, 7), launch_call(0, 1, 90),
                   kernel("u2", 260, 5, 92)});
  EXPECT_EQ(unlinked(t, only_steps(0, 1)), NameList{});
  EXPECT_EQ(unlinked(t, only_steps(1, 2)), NameList{"u2"});
}

// Kernels alone, as rocprof records them, with ranges: the device's own, else those open meanwhile.
TEST(GpuSelection, WorkOfATraceWithoutLaunchesIsSelectedByItsOwnTime) {
  const Trace images =
      open_events({annotation("ProfilerStep#1", 0, 100), annotation("ProfilerStep#2", 100, 100),
                   gpu_annotation("ProfilerStep#1", 100, 100, 7), kernel("k", 150, 5, 91)});
  const Trace plain =
      open_events({annotation("ProfilerStep#1", 0, 100), annotation("ProfilerStep#2", 100, 100),
                   kernel("k", 150, 5, 91)});
  EXPECT_EQ(linked(images, only_steps(0, 1)), NameList{"k"});
  EXPECT_EQ(linked(images, only_steps(1, 2)), NameList{});
  EXPECT_EQ(linked(plain, only_steps(0, 1)), NameList{});
  EXPECT_EQ(linked(plain, only_steps(1, 2)), NameList{"k"});
}

TEST(GpuSelection, PicksTheSelectedOfARange) {
  const Trace t = two_steps();
  const GpuSelection selection(t.store, t.tree, only_steps(1, 2));
  EXPECT_EQ(names_of(t.store, selection.among(t.tree.linked())), NameList{"c"});
  EXPECT_TRUE(selection.any(t.tree.linked()));
  EXPECT_FALSE(selection.any(t.tree.linked().first(2)));
  EXPECT_FALSE(selection.any({}));
}

TEST(IsCommunicationName, ByTheNameInAnyCase) {
  EXPECT_TRUE(is_communication_name("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)"));
  EXPECT_TRUE(is_communication_name("ncclKernel"));
  EXPECT_TRUE(is_communication_name("void RCCL_generic"));
  EXPECT_TRUE(is_communication_name("void vllm::cross_device_reduce_1stage<float, 8>()"));
  EXPECT_TRUE(is_communication_name("Cross_Device_Reduce"));
  EXPECT_TRUE(is_communication_name("oneccl_allreduce_pcie"));
  EXPECT_TRUE(is_communication_name("void deep_ep::internode_ll::combine<7168>(void*)"));
  EXPECT_TRUE(is_communication_name(
      "void "
      "flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<(x)1>(p)"));
  EXPECT_TRUE(is_communication_name("userbuffers_fp16_sum_inplace_gpu_rr_rs_oop(int)"));
  EXPECT_FALSE(is_communication_name("void deep_gemm::sm90_fp8_gemm_1d2d_impl<0u>(float*)"));
  EXPECT_FALSE(is_communication_name("void warpAllReduceNorm<float>(x)"));
  EXPECT_FALSE(is_communication_name("void gemm"));
  EXPECT_FALSE(is_communication_name("ncc"));
  EXPECT_FALSE(is_communication_name(""));
}

// A library that no row names, in a trace that describes its collectives; the copy of a group of
// one rank is a copy.
TEST(GpuSelection, WhatTheTraceCallsACollectiveIsCommunication) {
  constexpr const char* kFacts = R"("device":0,"stream":7,"Collective name":"allreduce")";
  const Trace trace =
      test::open_events({test::event_text("kernel", "new_library_kernel", 0, 10, kFacts),
                         test::event_text("kernel", "gemm", 20, 10, R"("device":0,"stream":7)"),
                         test::event_text("gpu_memcpy", "Memcpy DtoD", 40, 10, kFacts)});
  const GpuSelection selection(trace.store, trace.tree, Scope{});
  const auto is_communication = [&](std::string_view name) {
    return selection.is_communication(test::find_event(trace.store, name));
  };
  EXPECT_TRUE(is_communication("new_library_kernel"));
  EXPECT_FALSE(is_communication("gemm"));
  EXPECT_FALSE(is_communication("Memcpy DtoD"));
}

TEST(BusyTime, IsTheUnionOfTheIntervals) {
  const Trace t = open_events({launch_call(0, 5, 1), kernel("a", 10, 10, 1, 7),
                               kernel("b", 15, 10, 1, 8), kernel("c", 40, 5, 1, 7)});
  EXPECT_EQ(busy_time(t.store, t.tree.linked()), micros(20));
  EXPECT_EQ(busy_time(t.store, t.tree.linked().first(1)), micros(10));
  EXPECT_EQ(busy_time(t.store, {}), Nanos{});
}

TEST(GpuTimelineOfScope, UnlinkedWorkCountsOnlyWhereAsked) {
  const Trace t =
      open_events({launch_call(0, 5, 1), kernel("linked", 10, 10, 1), kernel("lost", 50, 10, 99)});
  Scope scope;
  EXPECT_EQ(measure_timeline(SheetInput(t.store, t.tree, scope)).total, micros(10));
  scope.include_unlinked = true;
  const GpuTimeline all = measure_timeline(SheetInput(t.store, t.tree, scope));
  EXPECT_EQ(all.total, micros(50));
  EXPECT_EQ(all.busy, micros(20));
  EXPECT_EQ(all.idle, micros(30));
}

TEST(GpuTimelineOfScope, ComputationHidesCommunicationAndBothHideCopies) {
  const Trace t = open_events(
      {launch_call(0, 5, 1), kernel("gemm", 0, 30, 1, 7), kernel("ncclAllReduce", 20, 30, 1, 8),
       test::event_text("gpu_memcpy", "Memcpy DtoH", 40, 30, R"("correlation":1)", "0", "9"),
       test::event_text("gpu_memset", "Memset", 80, 10, R"("correlation":1)", "0", "9")});
  const Scope scope;
  const GpuTimeline g = measure_timeline(SheetInput(t.store, t.tree, scope));
  EXPECT_EQ(g.computation, micros(40)) << "a memset computes";
  EXPECT_EQ(g.communication, micros(30));
  EXPECT_EQ(g.exposed_communication, micros(20));
  EXPECT_EQ(g.copies, micros(30));
  EXPECT_EQ(g.exposed_copies, micros(20));
  EXPECT_EQ(g.idle, micros(10));
  EXPECT_EQ(g.total, micros(90));
}

}  // namespace
}  // namespace fathom
