// What people edit and pass on to run experiments, and what is kept of them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "fleet/fleet_report.h"
#include "fleet/task_state.h"
#include "fuzz_folder.h"
#include "plan/ablate/records.h"
#include "plan/ablate/study_report.h"
#include "plan/plan_file.h"
#include "plan/plan_text.h"
#include "plan/run/schedule.h"
#include "targets.h"
#include "trial/journal.h"

namespace fathom::fuzz {
namespace {

namespace fs = std::filesystem;

// The text before a line that is `line`; what follows it is left in `text`.
std::string_view take_before(std::string_view& text, std::string_view line) {
  size_t at = text.find(line);
  while (at != text.npos && at > 0 && text[at - 1] != '\n') at = text.find(line, at + 1);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == text.npos ? text.size() : at + line.size());
  return taken;
}

// "kind<tab>name=value…" on each line: a journal without the hashes, which a fuzzer cannot guess.
std::vector<JournalRecord> records_in(std::string_view text) {
  std::vector<JournalRecord> records;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    JournalRecord record{std::string(line.substr(0, line.find('\t')))};
    for (size_t tab = line.find('\t'); tab != line.npos; tab = line.find('\t')) {
      line.remove_prefix(tab + 1);
      const std::string_view field = line.substr(0, line.find('\t'));
      const size_t equals = std::min(field.find('='), field.size());
      record.put(std::string(field.substr(0, equals)),
                 std::string(field.substr(std::min(equals + 1, field.size()))));
    }
    records.push_back(std::move(record));
  }
  return records;
}

// Keys are hashes as well: here they are all zero.
void report_study(const ablate::Suite& suite, const std::vector<JournalRecord>& records) {
  const std::vector<uint64_t> contents(suite.variants.size(), 7);
  Result<ablate::SuitePlan> made = ablate::plan_suite(suite, {"/trees", "/suite", ""}, contents);
  if (!made.ok()) return;
  ablate::SuitePlan plan = made.take();
  for (ablate::VariantPlan& variant : plan.variants) {
    variant.build_key = variant.check_key = variant.counters_key = 0;
    std::ranges::fill(variant.run_keys, 0);
  }
  const ablate::FoundSteps found = ablate::read_records(records, suite, plan, {});
  const ablate::Study study = ablate::make_study(suite, found.measurements, nullptr);
  (void)ablate::optimization_report(study, {2.5, "$"});
  (void)ablate::study_json(study, {});
  (void)ablate::study_text(study, true);
  (void)ablate::waterfall_svg(study);
  (void)ablate::next_text(study);
  (void)ablate::next_json(study);
}

}  // namespace

void plan_file(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const PlanCheck read = read_plan(text, "plan.toml");
  (void)plan_markdown(read.plan);
  (void)plan_json(read.plan);
  if (!read.mistakes.empty()) return;
  // What we write ourselves is the same plan.
  const std::string written = plan_toml(read.plan);
  const PlanCheck again = read_plan(written, "plan.toml");
  CHECK(again.mistakes.empty());
  CHECK(plan_toml(again.plan) == written);
  const Result<std::vector<ScheduledRun>> runs = schedule_runs(read.plan, {});
  if (!runs.ok()) return;
  CHECK(runs.value().size() <= static_cast<size_t>(kMaxRuns));
  for (const std::string& line : shown_commands(read.plan, runs.value(), {"fathom", "captures"}))
    CHECK(line.find_first_of("\x1b\n") == line.npos);
}

void suite_file(const uint8_t* data, size_t size) {
  std::string_view journal(reinterpret_cast<const char*>(data), size);
  const std::string_view text = take_before(journal, "=== journal\n");
  size_t good = 0, damaged = 0;
  (void)parse_journal(journal, good, damaged);
  CHECK(good <= journal.size());
  const Result<ablate::Suite> suite = ablate::parse_suite(text, "suite/suite.toml");
  if (suite.ok()) report_study(suite.value(), records_in(journal));
}

void fleet_files(const uint8_t* data, size_t size) {
  std::string_view state(reinterpret_cast<const char*>(data), size);
  const std::string_view tasks = take_before(state, "=== state\n");
  const fs::path& folder = empty_folder();
  fs::create_directory(folder / "state");
  write_whole(folder / "tasks.tsv", tasks);
  const Result<Fleet> read = read_fleet(folder);
  if (!read.ok()) return;
  const Fleet& fleet = read.value();
  const FleetTask& first = fleet.tasks.front();
  CHECK(fleet.part_of(first).parent_path() == fleet.directory / "parts");
  write_whole(folder / "state" / first.part, state);
  const FleetStatus status = fleet_status(fleet);
  (void)fleet_markdown(fleet, status, {});
  (void)failed_lines(fleet, status, 5);
  TaskState failed = status.tasks.front();
  failed.stage = TaskStage::kFailed;
  CHECK(write_state(fleet, first, failed).ok());
  CHECK(read_state(fleet, first).stage == TaskStage::kFailed);
  write_whole(folder / "tasks.tsv", tasks_text(fleet));
  CHECK(read_fleet(folder).ok());
}

}  // namespace fathom::fuzz
