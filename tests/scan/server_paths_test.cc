// The way of a request through a server: routes that keep their objects in the application, helpers
// that send, methods that receive, and loops that go on.
#include "checks.h"
#include "scan/scan_repository.h"
#include "test_files.h"

namespace fathom {
namespace {

std::string way_of(const RequestPath& path) {
  std::string out;
  for (const RequestHop& hop : path.hops) out += (out.empty() ? "" : " -> ") + hop.function;
  return out;
}

const RequestHop* hop_of(const RequestPath& path, std::string_view function) {
  const auto found = std::ranges::find(path.hops, function, &RequestHop::function);
  return found == path.hops.end() ? nullptr : &*found;
}

TEST(ServerPaths, FromARouteThroughASocketToTheKernel) {
  Result<CodeFacts> scanned =
      scan_repository(test::source_dir() / "tests/scan/repositories/38-server", {});
  ASSERT_TRUE(scanned.ok());
  const CodeFacts facts = scanned.take();
  ASSERT_GE(facts.request_paths.size(), 2U);

  const RequestPath& completions = facts.request_paths[0];
  EXPECT_EQ(completions.entry, "POST /v1/completions");
  EXPECT_EQ(way_of(completions),
            "completions -> Completions.handle -> Tokenizer.generate_request -> Tokenizer.send_one "
            "-> Tokenizer.dispatch -> Scheduler.loop_normal -> Scheduler.run_batch -> step_kernel");
  const RequestHop* handle = hop_of(completions, "Completions.handle");
  ASSERT_NE(handle, nullptr);
  EXPECT_EQ(handle->certainty, Certainty::kLikely) << "app.state.completions is set in main()";
  EXPECT_FALSE(handle->how.is(ReachKind::kCallsOnlyMethod));
  const RequestHop* loop = hop_of(completions, "Scheduler.loop_normal");
  ASSERT_NE(loop, nullptr);
  EXPECT_TRUE(loop->how.is(ReachKind::kSends));

  // Nothing sets app.state.nobody: the method is guessed by its name.
  const RequestPath& unknown = facts.request_paths[1];
  EXPECT_EQ(unknown.entry, "POST /v1/unknown");
  const RequestHop* guessed = hop_of(unknown, "Completions.handle");
  ASSERT_NE(guessed, nullptr);
  EXPECT_TRUE(guessed->how.is(ReachKind::kCallsOnlyMethod));
  for (const RequestPath& path : facts.request_paths)
    EXPECT_NE(path.entry, "POST /generate") << "an example's route";
}

}  // namespace
}  // namespace fathom
