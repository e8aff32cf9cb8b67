#include "fleet/fleet.h"

#include <sys/stat.h>

#include <fstream>
#include <map>

#include "checks.h"
#include "fleet/fleet_drawings.h"
#include "fleet/fleet_report.h"
#include "fleet/run_tasks.h"
#include "fleet/slurm_scripts.h"
#include "fleet/task_state.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using test::TemporaryDirectory;
using test::write_file;

void touch(const fs::path& path, std::string_view content = "{}") {
  fs::create_directories(path.parent_path());
  write_file(path, content);
}

// A fleet of traces a, b and c whose folders are there.
Fleet small_fleet(const fs::path& folder) {
  Fleet fleet;
  fleet.directory = folder / "fleet";
  for (const char* name : {"a", "b", "c"}) {
    const fs::path trace = folder / (std::string(name) + ".json");
    touch(trace);
    fleet.tasks.push_back({name, trace.string(), 2});
  }
  for (const char* part : {"parts", "state", "logs"})
    fs::create_directories(fleet.directory / part);
  return fleet;
}

void finish(const Fleet& fleet, const FleetTask& task) {
  touch(fleet.part_of(task) / "run.parquet");
  TaskState state;
  state.stage = TaskStage::kDone;
  ASSERT_TRUE(write_state(fleet, task, state).ok());
}

TEST(FleetTraces, AreFoundByTheirEndings) {
  TemporaryDirectory folder;
  const fs::path root = folder.path();
  touch(root / "run 1/rank0.pt.trace.json.gz");
  touch(root / "run 1/rank1.pt.trace.json.gz");
  touch(root / "run-1/rank1.pt.trace.json.gz");  // the same name once blanks are gone
  touch(root / "p.capture");
  touch(root / "notes.txt");
  touch(root / ".hidden.json");
  touch(root / "rank0.fathom/summary.json");
  touch(root / "rank0.fathom/.fathom-report");
  fs::create_symlink(root / "p.capture", root / "link.capture");
  const Result<FoundTraces> found = find_traces({root.string(), (root / "p.capture").string()});
  ASSERT_TRUE(found.ok());
  std::vector<std::string> parts;
  for (const FleetTask& task : found.value().tasks) parts.push_back(task.part);
  EXPECT_EQ(parts, (std::vector<std::string>{"p", "run-1-rank0.pt.trace", "run-1-rank1.pt.trace",
                                             "run-1-rank1.pt.trace-2"}));
  EXPECT_FALSE(find_traces({(root / "absent").string()}).ok());
}

TEST(FleetTraces, ANameThatARowCannotHoldIsLeftOutAndSaid) {
  TemporaryDirectory folder;
  touch(folder.path() / "a\tb.json");
  touch(folder.path() / "a.json");
  const Result<FoundTraces> found = find_traces({folder.path().string()});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value().tasks.size(), 1U);
  EXPECT_EQ(found.value().notes.size(), 1U);
}

TEST(FleetTasks, AreReadAsTheyWereWritten) {
  TemporaryDirectory folder;
  Fleet fleet = small_fleet(folder.path());
  fleet.traces_per_job = 2;
  write_file(fleet.directory / "tasks.tsv", tasks_text(fleet));
  const Result<Fleet> read = read_fleet(fleet.directory);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read.value().jobs(), 2);
  EXPECT_EQ(tasks_text(read.value()), tasks_text(fleet));
}

TEST(FleetTasks, WhatOthersWroteIsRefused) {
  TemporaryDirectory folder;
  Fleet fleet = small_fleet(folder.path());
  const std::string good = tasks_text(fleet);
  const auto is_read = [&](const std::string& text) {
    write_file(fleet.directory / "tasks.tsv", text);
    return read_fleet(fleet.directory).ok();
  };
  EXPECT_TRUE(is_read(good));
  EXPECT_FALSE(is_read(""));
  EXPECT_FALSE(is_read(good.substr(0, good.find("part\t"))));
  EXPECT_FALSE(is_read(good + "../../etc\t1\t/x.json\n"));  // a part is one folder in parts/
  EXPECT_FALSE(is_read(good + "d/e\t1\t/x.json\n"));
  EXPECT_FALSE(is_read(good + "d\t1\t--host=elsewhere\n"));  // it would be an option of export
  std::string many = good;
  many.replace(many.find("traces_per_job\t") + 15, 1, "0");
  EXPECT_FALSE(is_read(many));
}

TEST(FleetState, DoneHoldsForTheTraceThatWasExported) {
  TemporaryDirectory folder;
  const Fleet fleet = small_fleet(folder.path());
  const FleetTask& task = fleet.tasks[0];
  EXPECT_EQ(read_state(fleet, task).stage, TaskStage::kWaiting);
  finish(fleet, task);
  EXPECT_EQ(read_state(fleet, task).stage, TaskStage::kDone);
  fs::remove(fleet.part_of(task) / "run.parquet");
  EXPECT_EQ(read_state(fleet, task).stage, TaskStage::kWaiting);
  finish(fleet, task);
  write_file(task.trace, "{\"traceEvents\":[]}");
  EXPECT_EQ(read_state(fleet, task).stage, TaskStage::kWaiting);
  finish(fleet, task);
  fs::remove(task.trace);  // cleaned up after the export
  EXPECT_EQ(read_state(fleet, task).stage, TaskStage::kDone);
}

TEST(FleetState, AnAttemptThatWasKilledIsWaitingAgain) {
  TemporaryDirectory folder;
  const Fleet fleet = small_fleet(folder.path());
  TaskState state;
  state.stage = TaskStage::kRunning;
  ASSERT_TRUE(write_state(fleet, fleet.tasks[0], state).ok());
  {
    const FileDescriptor lock = lock_task(fleet, fleet.tasks[0]);
    ASSERT_TRUE(lock.ok());
    EXPECT_EQ(read_state(fleet, fleet.tasks[0]).stage, TaskStage::kRunning);
  }
  EXPECT_EQ(read_state(fleet, fleet.tasks[0]).stage, TaskStage::kWaiting);
}

TEST(FleetState, ADamagedFileIsWaiting) {
  TemporaryDirectory folder;
  const Fleet fleet = small_fleet(folder.path());
  write_file(fleet.directory / "state/a", std::string("stage\tdo\0ne\n\n\t\ttries", 20));
  EXPECT_EQ(read_state(fleet, fleet.tasks[0]).stage, TaskStage::kWaiting);
}

// Opening one would wait for a writer, for ever.
TEST(FleetState, AFifoInPlaceOfAFileIsNotWaitedFor) {
  TemporaryDirectory folder;
  const Fleet fleet = small_fleet(folder.path());
  const fs::path state = fleet.directory / "state" / fleet.tasks[0].part;
  ASSERT_EQ(mkfifo(state.c_str(), 0600), 0);
  EXPECT_EQ(read_state(fleet, fleet.tasks[0]).stage, TaskStage::kWaiting);
  ASSERT_EQ(mkfifo((fleet.directory / "tasks.tsv").c_str(), 0600), 0);
  EXPECT_FALSE(read_fleet(fleet.directory).ok());
}

// A fleet may come from somebody else: what it holds leads to no file outside of it.
TEST(FleetState, ALinkInTheFolderIsNotWrittenThrough) {
  TemporaryDirectory folder;
  const Fleet fleet = small_fleet(folder.path());
  write_file(folder.path() / "mine", "mine");
  fs::create_symlink(folder.path() / "mine", fleet.directory / "state/a.next");
  EXPECT_FALSE(write_state(fleet, fleet.tasks[0], {}).ok());
  EXPECT_EQ(test::read_file(folder.path() / "mine"), "mine");
  write_file(fleet.directory / "state/b", "stage\tfailed\ntries\t9223372036854775807\n");
  EXPECT_LT(read_state(fleet, fleet.tasks[1]).tries, INT64_MAX / 2);
}

TEST(FleetScripts, AnArrayCoversAllTracesAndStaysWithinTheLimit) {
  for (const size_t traces : {1U, 999U, 1000U, 1001U, 100'000U}) {
    Fleet fleet;
    fleet.tasks.resize(traces);
    fleet.traces_per_job = fitting_traces_per_job(traces);
    EXPECT_LE(fleet.jobs(), 1000);
    EXPECT_GE(fleet.jobs() * fleet.traces_per_job, static_cast<int64_t>(traces));
    EXPECT_NE(export_script(fleet, {}).find("--array=0-" + std::to_string(fleet.jobs() - 1) + "%"),
              std::string::npos);
  }
}

TEST(FleetScripts, AreReadByAShell) {
  TemporaryDirectory folder;
  Fleet fleet;
  fleet.directory = folder.path() / "it's a $(touch bad) fleet";
  fs::create_directories(fleet.directory);
  fleet.tasks.resize(3);
  SlurmSettings settings;
  settings.program = "/opt/my tools/fathom";
  settings.options = {"--partition=cpu"};
  settings.set_up = {"module() { echo \"$@\"; }", "module load gcc"};
  settings.container = "echo run";
  write_file(folder.path() / "export.sbatch", export_script(fleet, settings));
  const auto ran = test::run_command("SLURM_ARRAY_TASK_ID=2 bash export.sbatch", folder.path());
  EXPECT_EQ(ran.output, "load gcc\nrun /opt/my tools/fathom fleet task " +
                            fleet.directory.string() + " --job 2\n");
  EXPECT_FALSE(fs::exists(folder.path() / "bad"));
  write_file(folder.path() / "submit.sh", submit_script(fleet));
  EXPECT_EQ(test::run_command("bash -n submit.sh", folder.path()).exit_code, 0);
}

// A runner that stands for `fathom fleet task`: b fails once, c always.
TEST(FleetTaskRuns, TriesAgainAndSaysWhatFailed) {
  TemporaryDirectory folder;
  const Fleet fleet = small_fleet(folder.path());
  FleetRun plan;
  plan.words = {"task"};
  plan.at_once = 2;
  plan.tries = 3;
  plan.hosts = {"one", "two"};
  const std::string where = fleet.directory.string();
  plan.runner = "set -- {command} {host}; cd '" + where +
                "'; echo \"$3\" >> hosts; echo x >> tries-$2; [ $2 = 2 ] && exit 7; "
                "[ $2 = 1 ] && [ $(wc -l < tries-1) = 1 ] && kill -9 $$; "
                "p=$(echo abc | cut -c$(($2 + 1))); mkdir -p parts/$p; : > parts/$p/run.parquet; "
                "printf 'stage\\tdone\\nbytes\\t2\\nmodified_ns\\t%s\\n' "
                "$(stat -c %.9Y ../$p.json | tr -d .) > state/$p";
  std::map<std::string, TaskState> ended;
  ASSERT_TRUE(run_fleet(fleet, plan, [&](const FleetTask& task, const TaskState& state) {
                ended[task.part] = state;
              }).ok());
  ASSERT_EQ(ended.size(), 3U);
  EXPECT_EQ(ended["a"].stage, TaskStage::kDone);
  EXPECT_EQ(ended["b"].stage, TaskStage::kDone);
  EXPECT_EQ(ended["c"].stage, TaskStage::kFailed);
  EXPECT_EQ(ended["c"].reason, "its process ended with exit status 7");
  EXPECT_EQ(test::read_file(fleet.directory / "tries-1"), "x\nx\n");
  EXPECT_EQ(test::read_file(fleet.directory / "tries-2"), "x\nx\nx\n");
  const std::string hosts = test::read_file(fleet.directory / "hosts");
  EXPECT_EQ(std::count(hosts.begin(), hosts.end(), 'o'), 6);  // three times one, three times two
}

TEST(FleetTaskRuns, ATaskThatAnotherHoldsIsLeftToIt) {
  TemporaryDirectory folder;
  const Fleet fleet = small_fleet(folder.path());
  const FileDescriptor lock = lock_task(fleet, fleet.tasks[0]);
  const Result<TaskOutcome> outcome = run_task(fleet, fleet.tasks[0], {"/bin/false", {}});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.value(), TaskOutcome::kHeldElsewhere);
}

TEST(FleetTaskRuns, AFailureIsKeptWithItsReason) {
  TemporaryDirectory folder;
  const Fleet fleet = small_fleet(folder.path());
  const fs::path program = folder.path() / "fathom";
  write_file(program, "#!/bin/sh\necho 'fathom: a.json: not a trace' >&2\nexit 1\n");
  chmod(program.c_str(), 0755);
  const Result<TaskOutcome> outcome =
      run_task(fleet, fleet.tasks[0], {program, {"PATH=/bin:/usr/bin"}});
  ASSERT_TRUE(outcome.ok());
  EXPECT_EQ(outcome.value(), TaskOutcome::kFailed);
  const TaskState state = read_state(fleet, fleet.tasks[0]);
  EXPECT_EQ(state.stage, TaskStage::kFailed);
  EXPECT_EQ(state.tries, 1);
  EXPECT_EQ(state.reason, "exit status 1: a.json: not a trace");
}

Table ranks_table(const std::vector<double>& own) {
  Table table("ranks");
  Column& part = table.text_column("part");
  Column& compute = table.real_column("compute_ms");
  Column& over = table.real_column("over_median_percent");
  for (size_t i = 0; i < own.size(); ++i) {
    part.add(std::string_view("rank" + std::to_string(i)));
    compute.add(100 + own[i]);
    over.add(own[i]);
  }
  return table;
}

TEST(FleetReport, NamesARankThatStandsOutAndNoOther) {
  const auto slow = slow_rank(ranks_table({0, 12.5, -1}));
  ASSERT_TRUE(slow.has_value());
  EXPECT_EQ(slow->part, "rank1");
  EXPECT_TRUE(slow->stands_out());
  EXPECT_FALSE(slow_rank(ranks_table({0, 2, -1}))->stands_out());
  EXPECT_FALSE(slow_rank(ranks_table({0})).has_value());
  // Traces without GPU work: nothing to compare, which is not "no rank stands out".
  Table none("ranks");
  for (Column* column : {&none.real_column("over_median_percent")}) {
    column->add_unknown();
    column->add_unknown();
  }
  EXPECT_FALSE(slow_rank(none).has_value());
  EXPECT_NE(fleet_headline({{"fleet-ranks", "", none}}).find("no GPU work"), std::string::npos);
}

TEST(FleetReport, SaysWhatIsMissingFirst) {
  TemporaryDirectory folder;
  const Fleet fleet = small_fleet(folder.path());
  finish(fleet, fleet.tasks[0]);
  TaskState bad;
  bad.stage = TaskStage::kFailed;
  bad.reason = "exit status 1: b.json: <script> not a trace";
  ASSERT_TRUE(write_state(fleet, fleet.tasks[1], bad).ok());
  const std::string text =
      fleet_markdown(fleet, fleet_status(fleet), {{"fleet-ranks", "Which?", ranks_table({0, 9})}});
  EXPECT_NE(text.find("1 of 3 traces exported, 1 failed, 1 waiting"), std::string::npos) << text;
  EXPECT_LT(text.find("not a trace"), text.find("## Which?"));
  EXPECT_EQ(text.find("<script> not"), std::string::npos);
  EXPECT_NE(text.find("1 trace not exported yet"), std::string::npos);
  EXPECT_NE(text.find("`rank1` is slow: 9.0 %"), std::string::npos) << text;
}

TEST(FleetReport, ComparesKernelsOfTwoRuns) {
  const auto times = [](const std::vector<std::pair<const char*, double>>& rows) {
    Table table("times");
    Column& name = table.text_column("name");
    Column& ms = table.real_column("ms_per_rank");
    for (const auto& [kernel, value] : rows) {
      name.add(std::string_view(kernel));
      ms.add(value);
    }
    return table;
  };
  const Table table =
      compared_kernels(times({{"gemm", 12}, {"new", 3}}), times({{"gemm", 10}, {"old", 1}}));
  ASSERT_EQ(table.rows(), 3U);
  EXPECT_EQ(table.columns()[0].text(0), "new");
  EXPECT_EQ(table.columns()[0].text(1), "gemm");
  EXPECT_DOUBLE_EQ(table.columns()[4].number(1), 20);
  EXPECT_FALSE(table.columns()[1].known(0));
  EXPECT_FALSE(table.columns()[2].known(2));
}

TEST(FleetReport, ComparesTheMedianRanksOfTwoRuns) {
  const auto ranks = [](const std::vector<double>& walls) {
    Table table("ranks");
    Column& wall = table.real_column("wall_ms");
    for (const double value : walls) wall.add(value);
    return table;
  };
  const Table table = compared_ranks(ranks({110, 112, 111}), ranks({100, 102, 98, 100}));
  ASSERT_EQ(table.rows(), 5U);
  EXPECT_DOUBLE_EQ(table.columns()[1].number(0), 100);
  EXPECT_DOUBLE_EQ(table.columns()[2].number(0), 111);
  EXPECT_NEAR(table.columns()[3].number(0), 11, 1e-9);
  EXPECT_DOUBLE_EQ(table.columns()[4].number(0), 4);  // 98 to 102
  const std::string line = fleet_headline({{"against-ranks", "", table}});
  EXPECT_NE(line.find("from 100.00 to 111.00 ms (+11.0 %), more than"), std::string::npos) << line;
  EXPECT_EQ(compared_ranks(ranks({}), ranks({1})).rows(), 0U);
  // A run of twice the steps is no regression.
  const auto stepped = [](Table of_ranks, int64_t count) {
    Column& steps = of_ranks.count_column("steps");
    for (size_t row = 0; row < 3; ++row) steps.add(count);
    return of_ranks;
  };
  const Table longer =
      compared_ranks(stepped(ranks({202, 202, 202}), 20), stepped(ranks({100, 100, 101}), 10));
  EXPECT_EQ(longer.columns()[0].text(0), "wall_ms per step");
  EXPECT_NEAR(longer.columns()[3].number(0), 1, 1e-9);
  EXPECT_NE(fleet_headline({{"against-ranks", "", longer}}).find("median rank's step goes from"),
            std::string::npos);
  EXPECT_NEAR(compared_ranks(stepped(ranks({202, 202, 202}), 20), ranks({100, 100, 101}))
                  .columns()[3]
                  .number(0),
              102, 1e-9);
  const std::string slow = fleet_headline({{"fleet-ranks", "", ranks_table({0, 9})}});
  EXPECT_TRUE(slow.starts_with("rank1 is slow: 9.0 %")) << slow;
}

TEST(FleetReport, NamesTheClockOfASlowRankAndWhatIsDamaged) {
  TemporaryDirectory folder;
  const Fleet fleet = small_fleet(folder.path());
  for (const FleetTask& task : fleet.tasks) finish(fleet, task);
  Table clocks("clocks");
  clocks.text_column("part").add(std::string_view("rank1"));
  clocks.real_column("sm_clock_mhz").add(1500.0);
  clocks.real_column("under_median_percent").add(24.2);
  clocks.real_column("held_down_percent").add(90.0);
  const std::string text = fleet_markdown(
      fleet, fleet_status(fleet),
      {{"fleet-ranks", "Which?", ranks_table({0, 9})}, {"fleet-clocks", "Clocks?", clocks}},
      {"parts/a/ops.parquet is damaged"});
  EXPECT_NE(text.find("Its SM clock is 1500 MHz, 24.2 % under"), std::string::npos) << text;
  EXPECT_LT(text.find("parts/a/ops.parquet is damaged"), text.find("## Which?"));
}

// Whatever a table holds, the picture is one that a browser reads.
TEST(FleetDrawings, AreWellFormedForAnyTable) {
  for (const char* question :
       {"fleet-ranks", "fleet-hosts", "fleet-rank-steps", "fleet-collectives", "fleet-kernels",
        "fleet-clocks", "fleet-steps", "fleet-since", "against-ranks", "against-kernels"}) {
    Table odd("odd");
    Column& part = odd.text_column("part");
    Column& name = odd.text_column("name");
    Column& step = odd.count_column("step");
    Column& median = odd.real_column("median_us");
    Column& wall = odd.real_column("compute_ms");
    for (int64_t row = 0; row < 700; ++row) {
      part.add(std::string_view(row < 350 ? "<script>&\x1b\xff\"" : ""));
      name.add(std::string_view("a<b>&c"));
      step.add(row * 1'000'000'000'000);
      median.add(row % 3 == 0 ? 0.0 : 1e300);
      wall.add(-5.0);
    }
    const std::string svg = answer_drawing(question, odd);
    EXPECT_TRUE(svg.starts_with("<svg") && svg.ends_with("</svg>\n")) << question;
    EXPECT_EQ(svg.find("<script"), std::string::npos);
    EXPECT_EQ(svg.find("nan"), std::string::npos) << question;
    EXPECT_EQ(svg.find("inf"), std::string::npos) << question;
    EXPECT_LT(svg.size(), 300'000U) << question;
    EXPECT_EQ(answer_drawing(question, Table("none")), "");
  }
  EXPECT_EQ(answer_drawing("another", ranks_table({1, 2})), "");
}

double box_at(const std::string& svg, const std::string& colour, std::string_view attribute) {
  const size_t end = svg.rfind(colour);
  if (end == std::string::npos) return -1;
  const std::string key = " " + std::string(attribute) + "=\"";
  return std::stod(svg.substr(svg.find(key, svg.rfind("<rect", end)) + key.size()));
}

TEST(FleetDrawings, ShowFromWhichStepARankIsSlow) {
  const auto since = [](int64_t step) {
    Table table("since");
    table.text_column("part").add(std::string_view("rank5"));
    table.count_column("since_step").add(step);
    table.count_column("first_step").add(int64_t{10});
    table.count_column("last_step").add(int64_t{19});
    table.real_column("mean_excess_percent").add(12.5);
    return answer_drawing("fleet-since", table);
  };
  const std::string late = since(15), early = since(10);
  EXPECT_NE(late.find(">rank5<"), std::string::npos);
  EXPECT_NE(late.find("+12.5 %"), std::string::npos);
  EXPECT_NEAR(box_at(late, "#b01e1e", "width") * 2, box_at(early, "#b01e1e", "width"), 0.2);
  EXPECT_NEAR(box_at(late, "#dce6f2", "width"), box_at(late, "#b01e1e", "width"), 0.2);
}

TEST(FleetDrawings, ShowTheMedianRanksOfTwoRuns) {
  Table table("compared");
  table.text_column("what").add(std::string_view("wall_ms"));
  table.real_column("before_ms").add(100.0);
  table.real_column("now_ms").add(150.0);
  table.real_column("change_percent").add(50.0);
  const std::string svg = answer_drawing("against-ranks", table);
  EXPECT_NE(svg.find(">wall_ms<"), std::string::npos);
  EXPECT_NE(svg.find("+50 %"), std::string::npos);
  EXPECT_NEAR(box_at(svg, "#9a9a9a", "width") * 1.5, box_at(svg, "#3b7dd8", "width"), 0.2);
}

}  // namespace
}  // namespace fathom
