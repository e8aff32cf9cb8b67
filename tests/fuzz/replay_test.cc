// Every input that fuzzing keeps, and every one that ever broke something, must be read without
// harm.
#include "checks.h"
#include "targets.h"
#include "test_files.h"

namespace fathom::test {
namespace {

namespace fs = std::filesystem;

using Target = void (*)(const uint8_t*, size_t);

size_t replay(const char* name, Target target) {
  size_t inputs = 0;
  for (const char* kept : {"corpus", "crashes", "learned"}) {
    // What a fuzzer learned is replayed as it was learned.
    fuzz::whole_one_in = kept == std::string_view("learned") ? fuzz::kFuzzedWholeOneIn : 1;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(source_dir() / "fuzz" / kept / name, none)) {
      SCOPED_TRACE(entry.path().filename().string());
      const std::string input = read_file(entry.path());
      target(reinterpret_cast<const uint8_t*>(input.data()), input.size());
      ++inputs;
    }
  }
  return inputs;
}

TEST(FuzzReplay, KinetoJson) { EXPECT_GT(replay("kineto_json", fuzz::kineto_json), 20u); }
TEST(FuzzReplay, TraceDatabase) { EXPECT_GT(replay("trace_database", fuzz::trace_database), 3u); }
TEST(FuzzReplay, RocprofTrace) { EXPECT_GT(replay("rocprof_trace", fuzz::rocprof_trace), 3u); }
TEST(FuzzReplay, CaptureChunks) { EXPECT_GT(replay("capture_chunks", fuzz::capture_chunks), 3u); }
TEST(FuzzReplay, StoreFile) { EXPECT_GT(replay("store_file", fuzz::store_file), 3u); }
TEST(FuzzReplay, CppSource) { EXPECT_GT(replay("cpp_source", fuzz::cpp_source), 5u); }
TEST(FuzzReplay, PlatformFile) { EXPECT_GT(replay("platform_file", fuzz::platform_file), 3u); }
TEST(FuzzReplay, Compressed) { EXPECT_GT(replay("compressed", fuzz::compressed), 5u); }
TEST(FuzzReplay, PythonSource) { EXPECT_GT(replay("python_source", fuzz::python_source), 5u); }
TEST(FuzzReplay, JinjaSource) { EXPECT_GT(replay("jinja_source", fuzz::jinja_source), 3u); }
TEST(FuzzReplay, IgnoreRules) { EXPECT_GT(replay("ignore_rules", fuzz::ignore_rules), 2u); }
TEST(FuzzReplay, GitIndex) { EXPECT_GT(replay("git_index", fuzz::git_index), 5u); }
TEST(FuzzReplay, Manifests) { EXPECT_GT(replay("manifests", fuzz::manifests), 4u); }
TEST(FuzzReplay, Markdown) { EXPECT_GT(replay("markdown", fuzz::markdown), 3u); }
TEST(FuzzReplay, NcuCounters) { EXPECT_GT(replay("ncu_counters", fuzz::ncu_counters), 5u); }
TEST(FuzzReplay, RocprofCounters) {
  EXPECT_GT(replay("rocprof_counters", fuzz::rocprof_counters), 4u);
}
TEST(FuzzReplay, LogLines) { EXPECT_GT(replay("log_lines", fuzz::log_lines), 3u); }
TEST(FuzzReplay, ProcessRecords) {
  EXPECT_GT(replay("process_records", fuzz::process_records), 4u);
}
TEST(FuzzReplay, RpcMessages) { EXPECT_GT(replay("rpc_messages", fuzz::rpc_messages), 4u); }
TEST(FuzzReplay, RequestTargets) {
  EXPECT_GT(replay("request_targets", fuzz::request_targets), 8u);
}
TEST(FuzzReplay, PlanFile) { EXPECT_GT(replay("plan_file", fuzz::plan_file), 5u); }
TEST(FuzzReplay, SuiteFile) { EXPECT_GT(replay("suite_file", fuzz::suite_file), 5u); }
TEST(FuzzReplay, FleetFiles) { EXPECT_GT(replay("fleet_files", fuzz::fleet_files), 6u); }
TEST(FuzzReplay, Repository) { EXPECT_GT(replay("repository", fuzz::repository), 10u); }

// A folder of inputs that nothing replays would only look like a test.
TEST(FuzzReplay, EveryTargetHasInputsThatAreReplayed) {
  const std::string targets = read_file(source_dir() / "fuzz/targets.h");
  const std::string tests = read_file(source_dir() / "tests/fuzz/replay_test.cc");
  size_t found = 0;
  for (size_t at = targets.find("\nvoid "); at != std::string::npos;
       at = targets.find("\nvoid ", at + 1)) {
    const size_t begin = at + std::string_view("\nvoid ").size();
    const std::string name = targets.substr(begin, targets.find('(', begin) - begin);
    EXPECT_TRUE(fs::is_directory(source_dir() / "fuzz/corpus" / name)) << name;
    EXPECT_TRUE(fs::is_directory(source_dir() / "fuzz/crashes" / name)) << name;
    EXPECT_NE(tests.find("replay(\"" + name + "\""), std::string::npos) << name;
    ++found;
  }
  EXPECT_GT(found, 15u);
}

// Each seed cut off in so many places: nothing may depend on the end being there.
void replay_cut(const char* name, Target target, size_t cuts) {
  for (const auto& entry : fs::directory_iterator(source_dir() / "fuzz" / "corpus" / name)) {
    SCOPED_TRACE(entry.path().filename().string());
    const std::string input = read_file(entry.path());
    if (input.size() > 4000) continue;
    for (size_t size = 0; size < input.size(); size += 1 + input.size() / cuts) {
      target(reinterpret_cast<const uint8_t*>(input.data()), size);
    }
  }
}

TEST(FuzzReplay, CutTraces) { replay_cut("kineto_json", fuzz::kineto_json, 60); }
TEST(FuzzReplay, CutCaptures) { replay_cut("capture_chunks", fuzz::capture_chunks, 60); }
TEST(FuzzReplay, CutRocprof) { replay_cut("rocprof_trace", fuzz::rocprof_trace, 80); }
TEST(FuzzReplay, CutCpp) { replay_cut("cpp_source", fuzz::cpp_source, 100); }
TEST(FuzzReplay, CutPython) { replay_cut("python_source", fuzz::python_source, 100); }
TEST(FuzzReplay, CutJinja) { replay_cut("jinja_source", fuzz::jinja_source, 150); }
TEST(FuzzReplay, CutIgnoreRules) { replay_cut("ignore_rules", fuzz::ignore_rules, 400); }
TEST(FuzzReplay, CutGitIndex) { replay_cut("git_index", fuzz::git_index, 100); }
TEST(FuzzReplay, CutManifests) { replay_cut("manifests", fuzz::manifests, 80); }
TEST(FuzzReplay, CutMarkdown) { replay_cut("markdown", fuzz::markdown, 100); }
TEST(FuzzReplay, CutNcuCounters) { replay_cut("ncu_counters", fuzz::ncu_counters, 120); }
TEST(FuzzReplay, CutRocprofCounters) {
  replay_cut("rocprof_counters", fuzz::rocprof_counters, 120);
}
TEST(FuzzReplay, CutLogLines) { replay_cut("log_lines", fuzz::log_lines, 400); }
TEST(FuzzReplay, CutProcessRecords) { replay_cut("process_records", fuzz::process_records, 60); }
TEST(FuzzReplay, CutRpcMessages) { replay_cut("rpc_messages", fuzz::rpc_messages, 200); }
TEST(FuzzReplay, CutRequestTargets) { replay_cut("request_targets", fuzz::request_targets, 200); }
TEST(FuzzReplay, CutPlanFile) { replay_cut("plan_file", fuzz::plan_file, 60); }
TEST(FuzzReplay, CutSuiteFile) { replay_cut("suite_file", fuzz::suite_file, 60); }
TEST(FuzzReplay, CutFleetFiles) { replay_cut("fleet_files", fuzz::fleet_files, 60); }
TEST(FuzzReplay, CutRepository) { replay_cut("repository", fuzz::repository, 20); }

}  // namespace
}  // namespace fathom::test
