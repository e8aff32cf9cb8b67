#include "report/timeline/chrome_trace.h"

#include "base/json_check.h"
#include "checks.h"
#include "ingest/capture/reader.h"
#include "ingest/kineto/reader.h"
#include "record/made_capture.h"
#include "test_files.h"

namespace fathom {
namespace {

std::string chrome_text(const EventStore& store) {
  std::string text;
  const Status done = write_chrome_trace(store, [&text](std::string_view piece) -> Status {
    text += piece;
    return Nothing{};
  });
  EXPECT_TRUE(done.ok());
  return text;
}

EventStore read_json(const std::string& text) {
  TextSource source(text);
  Result<EventStore> store = kineto::read_trace(source, "made.json");
  EXPECT_TRUE(store.ok());
  return store.take();
}

// Everything that sheets are made of, row by row.
void expect_same_events(const EventStore& a, const EventStore& b) {
  const int64_t base_a = a.metadata().base_time.value_or(Nanos{}).count;
  const int64_t base_b = b.metadata().base_time.value_or(Nanos{}).count;
  ASSERT_EQ(a.size(), b.size());
  for (EventId e(0); e.index < a.size(); ++e.index) {
    ASSERT_EQ(a.kind(e), b.kind(e)) << a.name(e);
    ASSERT_EQ(a.name(e), b.name(e));
    ASSERT_EQ(a.start(e).count + base_a, b.start(e).count + base_b) << a.name(e);
    ASSERT_EQ(a.duration(e).count, b.duration(e).count) << a.name(e);
    ASSERT_EQ(a.text(a.track(e).pid), b.text(b.track(e).pid));
    ASSERT_EQ(a.text(a.track(e).tid), b.text(b.track(e).tid));
    if (is_gpu_work(a.kind(e))) {
      const GpuWork &x = a.gpu_work(e), &y = b.gpu_work(e);
      ASSERT_EQ(x.key, y.key);
      ASSERT_EQ(x.device, y.device);
      ASSERT_EQ(x.stream, y.stream);
      ASSERT_EQ(x.bytes, y.bytes);
      ASSERT_EQ(x.registers, y.registers);
      ASSERT_EQ(x.shared_memory, y.shared_memory);
    }
    const Collective *c = a.collective(e), *d = b.collective(e);
    ASSERT_EQ(c != nullptr, d != nullptr) << a.name(e);
    if (c != nullptr) {
      ASSERT_EQ(a.text(c->name), b.text(d->name));
      ASSERT_EQ(a.text(c->dtype), b.text(d->dtype));
      ASSERT_EQ(c->in_elements, d->in_elements);
      ASSERT_EQ(c->group_size, d->group_size);
    }
    ASSERT_EQ(a.args_id(e).valid(), b.args_id(e).valid()) << a.name(e);
    if (a.args_id(e).valid()) {
      const Args &x = a.args(a.args_id(e)), &y = b.args(b.args_id(e));
      ASSERT_EQ(a.text(x.dims), b.text(y.dims));
      ASSERT_EQ(a.text(x.types), b.text(y.types));
      ASSERT_EQ(a.text(x.strides), b.text(y.strides));
      ASSERT_EQ(a.text(x.concrete), b.text(y.concrete));
    }
  }
}

TEST(ChromeTrace, OfACaptureIsReadBack) {
  const std::string bytes = made_capture(50);
  TextSource source(bytes);
  const Result<EventStore> capture = capture::read_capture(source, "made");
  ASSERT_TRUE(capture.ok());
  const EventStore again = read_json(chrome_text(capture.value()));
  expect_same_events(capture.value(), again);
  EXPECT_EQ(again.metadata().gpus.size(), 1u);
  EXPECT_EQ(again.metadata().gpus[0].multiprocessors, 132);
}

// Arguments are kept as the recording has them; what is no JSON there is a text here.
TEST(ChromeTrace, ArgumentsThatAreNoJsonAreTexts) {
  EventStoreBuilder builder;
  EventStoreBuilder::Common op;
  op.kind = EventKind::kCpuOp;
  op.name = builder.intern("aten::mm");
  op.track = builder.intern_track(builder.intern("1"), builder.intern("1"));
  op.args = builder.intern_args({builder.intern("[NaN]"), builder.intern("[\"a\\q"),
                                 builder.intern("[[1,2]]"), builder.intern("\xff\",{")});
  builder.add(op);
  const std::string text = chrome_text(std::move(builder).seal({}, 0));
  EXPECT_TRUE(is_json(text)) << text;
  EXPECT_NE(text.find(R"("Input Dims":"[NaN]")"), std::string::npos);
  EXPECT_NE(text.find(R"("Input Strides":[[1,2]])"), std::string::npos);
}

TEST(ChromeTrace, OfEveryExampleIsReadBack) {
  for (const std::filesystem::path& path : test::example_traces()) {
    const Result<EventStore> store = kineto::read_trace(path.string());
    ASSERT_TRUE(store.ok()) << path;
    expect_same_events(store.value(), read_json(chrome_text(store.value())));
  }
}

}  // namespace
}  // namespace fathom
