// Where work comes from: lines of the user's code, modules, gradients, and what is known without
// stacks.
#include "analyze/place.h"

#include <fmt/format.h>

#include "checks.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

using test::cpu_op;
using test::event_text;
using test::kernel;
using test::launch_call;

std::string frame(std::string_view name, int64_t start, int64_t duration) {
  static int64_t id = 0;
  return event_text("python_function", name, start, duration,
                    fmt::format(R"("Python id":{})", ++id));
}

std::vector<Place> places_of(const std::vector<std::string>& events,
                             const std::vector<std::string_view>& kernels,
                             double* unplaced = nullptr) {
  const Trace trace = test::open_events(events);
  const Scope scope;
  const SheetInput input(trace.store, trace.tree, scope);
  PlaceFinder finder(input);
  std::vector<CoveredEvent> covered;
  for (std::string_view name : kernels) {
    const EventId event = test::find_event(trace.store, name);
    covered.push_back({event, trace.store.duration(event)});
  }
  return finder.places_of(covered, unplaced);
}

TEST(Place, FrameNamesOfBothProfilers) {
  const auto frame = read_frame_name("/home/me/model.py(69): mid");
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->file, "/home/me/model.py");
  EXPECT_EQ(frame->line, 69);
  EXPECT_EQ(frame->function, "mid");
  const auto jax = read_frame_name("$model.py:12 step");
  ASSERT_TRUE(jax);
  EXPECT_EQ(jax->line, 12);
  EXPECT_EQ(jax->function, "step");
  for (const char* other :
       {"nn.Module: Linear_0", "<built-in function linear>", "f(x): y", "(3): f", "$", "$model.py",
        "m.py(99999999999999999999): f", "m.py(-3): f"}) {
    EXPECT_FALSE(read_frame_name(other)) << other;
  }
}

TEST(Place, WhoseCodeAFrameIs) {
  EXPECT_EQ(owner_of_frame("model.py(69): mid"), FrameOwner::kUser);
  EXPECT_EQ(owner_of_frame("src/my_torch/model.py(69): mid"), FrameOwner::kUser);
  EXPECT_EQ(owner_of_frame("trace.py(20): <module>"), FrameOwner::kUser) << "not the standard one";
  EXPECT_EQ(owner_of_frame("torch/nn/functional.py(2375): silu"), FrameOwner::kFramework);
  EXPECT_EQ(owner_of_frame("/usr/lib/python3.12/threading.py(10): run"), FrameOwner::kFramework);
  EXPECT_EQ(owner_of_frame("<string>(1): <module>"), FrameOwner::kFramework);
  EXPECT_EQ(owner_of_frame("<built-in method float of Tensor object at 0x7f>"),
            FrameOwner::kFramework);
  EXPECT_EQ(owner_of_frame("transformers/models/llama/modeling_llama.py(253): forward"),
            FrameOwner::kLibrary);
  EXPECT_EQ(owner_of_frame("/opt/lib/python3.12/site-packages/timm/layers/mlp.py(3): forward"),
            FrameOwner::kLibrary);
  EXPECT_EQ(owner_of_frame("/opt/lib/python3.12/site-packages/torch/nn/functional.py(3): silu"),
            FrameOwner::kFramework);
}

TEST(Place, TheInnermostFrameOutsideTheFramework) {
  const std::vector<std::string> events = {frame("train.py(5): step", 0, 100),
                                           frame("nn.Module: Model_0", 1, 90),
                                           frame("model.py(10): forward", 2, 80),
                                           frame("nn.Module: Block_3", 3, 60),
                                           frame("model.py(69): mid", 4, 50),
                                           frame("torch/nn/functional.py(2375): silu", 5, 40),
                                           frame("<built-in function silu>", 6, 30),
                                           cpu_op("aten::silu", 10, 20),
                                           launch_call(12, 2, 1),
                                           kernel("k", 50, 10, 1)};
  double unplaced = 1;
  const auto places = places_of(events, {"k"}, &unplaced);
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(place_text(places[0]), "model.py:69 mid");
  EXPECT_EQ(places[0].module, "Model_0/Block_3");
  EXPECT_EQ(places[0].op, "aten::silu");
  EXPECT_EQ(places[0].caller, "");
  EXPECT_EQ(places[0].share, 1);
  EXPECT_EQ(unplaced, 0);
}

TEST(Place, ALibrarysLineComesWithItsCaller) {
  const auto places = places_of(
      {frame("train.py(5): step", 0, 100), frame("transformers/models/m.py(7): forward", 2, 80),
       cpu_op("aten::mm", 10, 20), launch_call(12, 2, 1), kernel("k", 50, 10, 1)},
      {"k"});
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(place_text(places[0]), "transformers/models/m.py:7 forward");
  EXPECT_EQ(places[0].caller, "train.py:5 step");
}

TEST(Place, LinesAreMergedWithTheirSharesAndModules) {
  std::vector<std::string> events = {frame("train.py(5): step", 0, 1000)};
  std::vector<std::string> names;
  for (int i = 0; i < 4; ++i) {
    const int64_t at = 100 * i;
    events.push_back(frame(fmt::format("nn.Module: Block_{}", i), at + 1, 80));
    events.push_back(frame("model.py(10): forward", at + 2, 70));
    events.push_back(cpu_op("aten::mm", at + 10, 20));
    events.push_back(launch_call(at + 12, 2, i + 1));
    events.push_back(kernel(fmt::format("k{}", i), at + 50, 10, i + 1));
  }
  events.push_back(cpu_op("aten::add", 500, 20));
  events.push_back(launch_call(502, 2, 9));
  events.push_back(kernel("k4", 550, 10, 9));
  const auto places = places_of(events, {"k0", "k1", "k2", "k3", "k4"});
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(place_text(places[0]), "model.py:10 forward");
  EXPECT_EQ(places[0].module, "Block_*");
  EXPECT_DOUBLE_EQ(places[0].share, 0.8);
  EXPECT_EQ(place_text(places[1]), "train.py:5 step");
}

// The gradient of an op is at the op's line; backward() itself is called from elsewhere.
TEST(Place, AGradientIsWhereItsForwardOpWas) {
  constexpr const char* kForward = R"("Sequence number":7,"Fwd thread id":0)";
  constexpr const char* kBackward = R"("Sequence number":7,"Fwd thread id":1)";
  const std::vector<std::string> events = {
      frame("train.py(5): step", 0, 1000),
      frame("model.py(10): forward", 2, 70),
      cpu_op("aten::linear", 9, 30),
      cpu_op("aten::addmm", 10, 20, kForward),
      launch_call(12, 2, 1),
      kernel("forward", 50, 10, 1),
      frame("torch/_tensor.py(4): backward", 100, 300),
      cpu_op("autograd::engine::evaluate_function: AddmmBackward0", 110, 100, kBackward, "2"),
      cpu_op("AddmmBackward0", 111, 90, kBackward, "2"),
      cpu_op("aten::mm", 120, 20, "", "2"),
      launch_call(122, 2, 2, "2"),
      kernel("backward", 150, 20, 2)};
  const auto places = places_of(events, {"backward"});
  ASSERT_EQ(places.size(), 1u);
  EXPECT_TRUE(places[0].gradient);
  EXPECT_EQ(place_text(places[0]), "gradient of model.py:10 forward");
  EXPECT_EQ(places[0].op, "aten::linear");
  const auto both = places_of(events, {"forward", "backward"});
  ASSERT_EQ(both.size(), 1u);
  EXPECT_FALSE(both[0].gradient);
}

TEST(Place, WithoutStacksTheOpAndItsAnnotation) {
  double unplaced = 1;
  const auto places =
      places_of({test::annotation("ProfilerStep#3", 0, 200), test::annotation("decode", 5, 100),
                 cpu_op("aten::linear", 9, 30), cpu_op("aten::addmm", 10, 20),
                 launch_call(12, 2, 1), kernel("k", 50, 30, 1), kernel("unlinked", 90, 10, 77)},
                {"k", "unlinked"}, &unplaced);
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(place_text(places[0]), "aten::linear in decode");
  EXPECT_DOUBLE_EQ(unplaced, 0.25);
}

}  // namespace
}  // namespace fathom
