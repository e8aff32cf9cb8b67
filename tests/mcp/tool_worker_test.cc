#include "app/mcp/tool_worker.h"

#include <poll.h>

#include <cstdlib>

#include "checks.h"

namespace fathom::test {
namespace {

using Event = ToolWorker::Event;

// Counts the lines that it answered: what it keeps between them.
std::string counted_answer(std::string_view line) {
  static int count = 0;
  if (line == "crash") std::abort();
  if (line == "for ever")
    while (true) sleep(1);
  return std::to_string(++count) + "\n";
}

Event wait_for(ToolWorker& worker, std::string& answer) {
  while (true) {
    pollfd waits = {worker.descriptor(), POLLIN, 0};
    if (poll(&waits, 1, 20'000) != 1) return Event::kNothing;
    const Event event = worker.receive(answer);
    if (event != Event::kNothing) return event;
  }
}

std::string ask(ToolWorker& worker, const std::string& line) {
  std::string answer;
  EXPECT_TRUE(worker.send(line));
  EXPECT_EQ(wait_for(worker, answer), Event::kAnswer);
  return answer;
}

TEST(ToolWorker, KeepsWhatItHasOverACancelledAndACrashedAnswer) {
  ToolWorker worker(counted_answer);
  EXPECT_EQ(ask(worker, "a"), "1\n");
  EXPECT_EQ(ask(worker, "b"), "2\n");
  for (int i = 0; i < 3; ++i) {
    std::string answer;
    worker.send("for ever");
    EXPECT_TRUE(worker.is_busy());
    worker.cancel();
    EXPECT_EQ(wait_for(worker, answer), Event::kCancelled);
    EXPECT_FALSE(worker.is_busy());
    EXPECT_EQ(ask(worker, "c"), std::to_string(3 + 2 * i) + "\n");
    worker.send("crash");
    EXPECT_EQ(wait_for(worker, answer), Event::kCrashed);
    EXPECT_EQ(ask(worker, "d"), std::to_string(4 + 2 * i) + "\n");
  }
}

// The answer may be on its way already: there is none then, and the next line gets its own.
TEST(ToolWorker, ACancellationThatComesLateCostsNoOtherAnswer) {
  for (int i = 0; i < 50; ++i) {
    ToolWorker worker(counted_answer);
    worker.send("a");
    usleep(static_cast<useconds_t>(100 * i));
    worker.cancel();
    std::string answer;
    EXPECT_EQ(wait_for(worker, answer), Event::kCancelled) << i;
    EXPECT_FALSE(ask(worker, "b").empty()) << i;
  }
}

TEST(LineReader, LongLinesAreNotKept) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::string sent = "one\n" + std::string(9 << 20, 'x') + "\ntwo\nrest";
  if (fork() == 0) {
    for (size_t at = 0; at < sent.size();) {
      const ssize_t n = write(ends[1], sent.data() + at, sent.size() - at);
      if (n <= 0) break;
      at += static_cast<size_t>(n);
    }
    _exit(0);
  }
  close(ends[1]);
  LineReader lines;
  std::string got;
  do {
    while (const auto line = lines.next()) got += lines.is_too_long ? "(long)" : "(" + *line + ")";
  } while (lines.read_some(ends[0]));
  EXPECT_EQ(got, "(one)(long)(two)");
  EXPECT_EQ(lines.rest(), "rest");
  close(ends[0]);
}

}  // namespace
}  // namespace fathom::test
