#include "plan/run/results.h"

#include "checks.h"
#include "plan/run/results_text.h"
#include "session/code/observe.h"
#include "session/code/planned_metrics.h"
#include "test_files.h"

namespace fathom {
namespace {

Experiment sweep_experiment() {
  Experiment experiment;
  experiment.id = "E1";
  experiment.name = "sweep";
  experiment.command = {"./program"};
  for (const char* value : {"1", "2", "4", "8"}) {
    Configuration configuration;
    configuration.name = std::string("batch=") + value;
    configuration.settings = {{"batch", value}};
    experiment.configurations.push_back(configuration);
  }
  return experiment;
}

// 8 runs of each; wall time 1 s + 0.5 s × batch, a little apart.
std::vector<RunOutcome> sweep_runs(const Experiment& experiment) {
  std::vector<RunOutcome> runs;
  for (int64_t number = 0; number < 8; ++number) {
    for (size_t i = 0; i < experiment.configurations.size(); ++i) {
      RunOutcome one;
      one.run = {0, i, number, false, "E1"};
      one.end = TrialEnd();
      const double batch = std::stod(experiment.configurations[i].settings[0].second);
      const double wall = (1 + 0.5 * batch) * (1 + 0.001 * static_cast<double>(number));
      one.observations.all.push_back({"wall_time", "", "s", {wall}});
      one.observations.all.push_back({"dram_throughput", "gather_kernel<4>", "%", {40}});
      one.observations.causes.push_back({"gather_kernel<4>", "uncoalesced loads"});
      one.observations.causes.push_back({"", "GPU idle 60 %"});
      for (int layer = 0; layer < 4; ++layer)
        one.observations.all.push_back({"function_time",
                                        "layer " + std::to_string(layer),
                                        "s",
                                        {0.001 * static_cast<double>(layer + 1)}});
      runs.push_back(one);
    }
  }
  return runs;
}

ExpectedObservation expectation(std::string metric, std::string subject, std::optional<double> low,
                                std::optional<double> high) {
  ExpectedObservation expected;
  expected.metric = std::move(metric);
  expected.subject = std::move(subject);
  expected.configuration = "batch=1";
  expected.low = low;
  expected.high = high;
  return expected;
}

TEST(RunResults, SessionsAreComparedWhereThereAreRunsEnough) {
  struct Row {
    std::vector<double> first, second;
    bool differs;
  };
  const Row rows[] = {{{1.0, 1.01}, {1.5, 1.51}, true},
                      {{1.0, 1.01}, {1.02, 1.03}, false},  // under 5 %
                      {{1.0, 1.3}, {1.5, 1.51}, false},    // within what a session varies by
                      {{1.0}, {2.0}, false},               // one run shows nothing
                      {{1.0, 1.01, 1.02, 1.0}, {1.04, 1.05, 1.06, 1.04}, true},
                      {{1.0, 1.01, 1.02, 1.0}, {1.01, 1.0, 1.0, 1.02}, false}};
  for (const Row& row : rows) {
    Experiment experiment;
    experiment.id = "E1";
    experiment.command = {"./program"};
    std::vector<RunOutcome> runs;
    for (size_t session = 1; session <= 2; ++session) {
      for (const double wall : session == 1 ? row.first : row.second) {
        RunOutcome one;
        one.run = {0, 0, static_cast<int64_t>(runs.size()), false, "E1"};
        one.end = TrialEnd();
        one.session = session;
        one.observations.all.push_back({"wall_time", "", "s", {wall}});
        runs.push_back(one);
      }
    }
    const ExperimentResult result = evaluate_experiment(experiment, runs);
    const std::vector<std::string>& notes = result.configurations[0].notes;
    ASSERT_EQ(notes.size(), row.differs ? 1u : 0u) << row.second[0];
    if (row.differs) {
      EXPECT_NE(notes[0].find("drift between sessions"), std::string::npos);
    }
  }
}

TEST(RunResults, VerdictsOfExpectations) {
  Experiment experiment = sweep_experiment();
  experiment.expected = {expectation("wall_time", "", 1.4, 1.6),
                         expectation("wall_time", "", 1.0, 1.501),  // the interval reaches it
                         expectation("wall_time", "", 2.0, 3.0),
                         expectation("dram_throughput", "gather*", 80, 95),
                         expectation("wall_time", "", {}, {}),
                         expectation("tensor_pipe", "", 1, 2)};
  const ExperimentResult result = evaluate_experiment(experiment, sweep_runs(experiment));
  ASSERT_EQ(result.expected.size(), 6u);
  EXPECT_EQ(result.expected[0].verdict, ExpectedVerdict::kConfirmed);
  EXPECT_EQ(result.expected[1].verdict, ExpectedVerdict::kWithinNoise);
  EXPECT_EQ(result.expected[2].verdict, ExpectedVerdict::kSurprise);
  EXPECT_EQ(result.expected[2].why, "GPU idle 60 %");
  EXPECT_EQ(result.expected[3].verdict, ExpectedVerdict::kSurprise);
  EXPECT_EQ(result.expected[3].why, "uncoalesced loads");
  EXPECT_EQ(result.expected[4].verdict, ExpectedVerdict::kFirstMeasurement);
  EXPECT_EQ(result.expected[5].verdict, ExpectedVerdict::kNotMeasured);
  EXPECT_EQ(result.expected[5].why, "the recording has no such counters: --counters");
}

TEST(RunResults, ThePictureHasABandAndAMarkForEachThatWasMeasured) {
  const auto count = [](const std::string& text, std::string_view part) {
    size_t n = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
    return n;
  };
  Experiment experiment = sweep_experiment();
  experiment.configurations[0].name = "<script>";
  experiment.expected = {
      expectation("wall_time", "", 1.4, 1.6), expectation("wall_time", "", 2.0, 3.0),
      expectation("wall_time", "", {}, {}), expectation("tensor_pipe", "", 1, 2)};
  for (ExpectedObservation& one : experiment.expected) one.configuration = "<script>";
  const std::string svg =
      experiment_drawing(evaluate_experiment(experiment, sweep_runs(experiment)));
  EXPECT_TRUE(svg.starts_with("<svg") && svg.ends_with("</svg>\n"));
  EXPECT_EQ(count(svg, "<script"), 0u);
  EXPECT_EQ(count(svg, "#8fd0b5"), 3u);          // the legend's and two ranges
  EXPECT_EQ(count(svg, "<path"), 1u);            // one surprise
  EXPECT_EQ(count(svg, "<circle"), 1u + 2 + 4);  // the legend's, two more, four configurations
  // From 0 to 1.05 × 3.0 over 340: the surprise of 1.505 s is left of its range of 2.0 to 3.0.
  const double mark = std::stod(svg.substr(svg.find("<path d=\"M") + 10));
  EXPECT_NEAR(mark, 330 + 340 * 1.505 / 3.15, 1);
  experiment.configurations.resize(1);
  EXPECT_EQ(count(experiment_drawing(evaluate_experiment(experiment, sweep_runs(experiment))),
                  "one scale"),
            0u);
  EXPECT_EQ(experiment_drawing(evaluate_experiment(experiment, {})), "");
}

// The plan's own word for a surprise comes before what the counters say.
TEST(RunResults, TheNearestExplanationIsThePlans) {
  Experiment experiment = sweep_experiment();
  experiment.expected = {expectation("dram_throughput", "gather", 80, 95)};
  Surprise surprise;
  surprise.text = "slow loads";
  surprise.look_at = "the indices";
  surprise.metric = "dram_throughput";
  surprise.above = 99;  // the other side
  experiment.surprises = {surprise};
  EXPECT_EQ(evaluate_experiment(experiment, sweep_runs(experiment)).expected[0].why,
            "uncoalesced loads");
  surprise.above.reset();
  surprise.below = 50;
  experiment.surprises = {surprise};
  const ExperimentResult result = evaluate_experiment(experiment, sweep_runs(experiment));
  EXPECT_EQ(result.expected[0].why, "the indices");
  EXPECT_EQ(result.surprises.size(), 4u);  // in each configuration
}

TEST(RunResults, ComparisonScalingAndLayers) {
  const Experiment experiment = sweep_experiment();
  const ExperimentResult result = evaluate_experiment(experiment, sweep_runs(experiment));
  ASSERT_FALSE(result.scaling.empty());
  EXPECT_EQ(result.scaling[0].setting, "batch");
  EXPECT_EQ(result.scaling[0].fit.kind, FitKind::kLinear);
  EXPECT_NEAR(result.scaling[0].fit.a, 1.0035, 1e-3);
  EXPECT_NEAR(result.scaling[0].fit.b, 0.50175, 1e-3);
  ASSERT_GE(result.comparisons.size(), 3u);
  EXPECT_EQ(result.comparisons[0].metric, "wall_time");
  EXPECT_EQ(result.comparisons[0].comparison.verdict, SampleVerdict::kMore);
  EXPECT_NEAR(result.comparisons[0].comparison.estimate, 2.0 / 1.5, 1e-2);
  ASSERT_EQ(result.numbered.size(), 4u);
  EXPECT_EQ(result.numbered[0].pattern, "layer #");
  EXPECT_EQ(result.numbered[0].medians.size(), 4u);
  // A setting that is no number has no fit.
  Experiment words = experiment;
  for (Configuration& one : words.configurations) one.settings = {{"mode", "x" + one.name}};
  EXPECT_TRUE(evaluate_experiment(words, {}).scaling.empty());
}

TEST(RunResults, NoFitOfNoiseNorOfThreePoints) {
  const Experiment experiment = sweep_experiment();
  // The medians grow with the batch, by less than the runs of one batch differ.
  std::vector<RunOutcome> noisy = sweep_runs(experiment);
  for (RunOutcome& one : noisy) {
    const double medians = 1 + 0.05 * static_cast<double>(one.run.configuration);
    one.observations.all = {
        {"wall_time", "", "s", {medians * (one.run.number % 2 == 0 ? 0.6 : 1.4)}}};
  }
  const ExperimentResult result = evaluate_experiment(experiment, noisy);
  ASSERT_EQ(result.comparisons.size(), 3u);
  EXPECT_EQ(result.comparisons[2].comparison.verdict, SampleVerdict::kNotResolved);
  EXPECT_TRUE(result.scaling.empty());
  Experiment three = experiment;
  three.configurations.pop_back();
  EXPECT_TRUE(evaluate_experiment(three, sweep_runs(three)).scaling.empty());
}

TEST(RunResults, Criteria) {
  Experiment experiment = sweep_experiment();
  const auto criterion = [](CriterionKind kind, std::string metric, std::optional<double> value) {
    Criterion one;
    one.kind = kind;
    one.metric = std::move(metric);
    one.value = value;
    return one;
  };
  experiment.expected = {expectation("wall_time", "", 1.4, 1.6)};
  experiment.success = {criterion(CriterionKind::kMeasured, "wall_time", {}),
                        criterion(CriterionKind::kMeasured, "tensor_pipe", {}),
                        criterion(CriterionKind::kAtMost, "wall_time", 5.1),
                        criterion(CriterionKind::kAtMost, "wall_time", 4.9),
                        criterion(CriterionKind::kAtLeast, "wall_time", 1.0),
                        criterion(CriterionKind::kSpread, "wall_time", 1.0),
                        criterion(CriterionKind::kSpread, "wall_time", 0.1),
                        criterion(CriterionKind::kExpected, "wall_time", {}),
                        criterion(CriterionKind::kByHand, "", {})};
  const ExperimentResult result = evaluate_experiment(experiment, sweep_runs(experiment));
  const std::vector<CriterionVerdict> wanted = {
      CriterionVerdict::kMet,    CriterionVerdict::kNotMeasured, CriterionVerdict::kMet,
      CriterionVerdict::kNotMet, CriterionVerdict::kMet,         CriterionVerdict::kMet,
      CriterionVerdict::kNotMet, CriterionVerdict::kMet,         CriterionVerdict::kByHand};
  ASSERT_EQ(result.criteria.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(result.criteria[i].verdict, wanted[i]) << i;
}

TEST(RunResults, AFailureGivesNoTimes) {
  Experiment experiment = sweep_experiment();
  experiment.configurations.clear();
  RunOutcome failed;
  failed.run = {0, 0, 0, false, "E1-c0-r0"};
  failed.end = TrialEnd();
  failed.end->code = 3;
  failed.failed = true;
  failed.observations = observe_end(*failed.end);
  experiment.expected = {expectation("wall_time", "", 0, 1), expectation("exit_status", "", 0, 0)};
  for (ExpectedObservation& one : experiment.expected) one.configuration.clear();
  const ExperimentResult result = evaluate_experiment(experiment, {failed});
  ASSERT_EQ(result.expected.size(), 2u);
  EXPECT_EQ(result.expected[1].verdict, ExpectedVerdict::kSurprise);
  EXPECT_EQ(result.expected[1].why, "the run failed: its log is in logs/");
  EXPECT_EQ(result.expected[0].verdict, ExpectedVerdict::kNotMeasured);
  EXPECT_EQ(result.expected[0].why, "exit status 3");
}

// What a real recording of a small serving program gives (examples/README.md).
TEST(Observe, ServingNumbersOfACapture) {
  const auto path = test::source_dir() / "examples/captures";
  const Result<ObservedCapture> serve = observe_capture((path / "serve-h200.capture").string());
  ASSERT_TRUE(serve.ok()) << serve.error().message;
  const Observations& seen = serve.value().observations;
  // 3 requests; a decode step is one launch of a CUDA graph: 400 in each, 399 between them.
  ASSERT_NE(seen.find("ttft", "prefill"), nullptr);
  EXPECT_EQ(seen.find("ttft", "prefill")->values.size(), 3u);
  ASSERT_NE(seen.find("itl", "decode"), nullptr);
  EXPECT_EQ(seen.find("itl", "decode")->values.size(), 3u * 399u);
  const SampleSummary itl = summarize_sample(seen.find("itl", "decode")->values);
  const SampleSummary graph =
      summarize_sample(seen.find("kernel_duration", "CUDA graph 2")->values);
  EXPECT_GE(itl.p50, graph.p50);
  EXPECT_LT(itl.p50, 1.1 * graph.p50);
  ASSERT_NE(seen.find("itl_growth", "decode"), nullptr);
  EXPECT_EQ(seen.find("itl_growth", "decode")->values.size(), 3u);  // of each request
  EXPECT_NE(seen.find("first_call_time", "prefill"), nullptr);
  EXPECT_FALSE(seen.causes.empty());
  EXPECT_NE(serve.value().story.find("decode"), std::string::npos);
  EXPECT_EQ(seen.find("log_value", "GPU 0 power (W)"), nullptr);
  EXPECT_NE(seen.find("gpu_sensor", "GPU 0 power (W)"), nullptr);
  EXPECT_FALSE(observe_capture((path / "absent.capture").string()).ok());
}

TEST(Observe, ProbesAndLogLinesBecomeThePlansMetrics) {
  Plan plan;
  Requirement batch;
  batch.level = Level::kApplication;
  batch.metric = "batch_size_over_time";
  batch.names = {"models:Attention.forward(len(pos), x.ndim)"};
  Requirement function = batch;
  function.metric = "step_time";
  Requirement first_token = batch;
  first_token.metric = "ttft";
  plan.requirements = {batch, function, first_token};
  Experiment experiment;
  experiment.id = "E1";
  experiment.expected = {expectation("log_value", "tokens [{int}", 1, 2),
                         expectation("itl", "step {float} ms", {}, {})};
  const Result<ObservedCapture> capture =
      observe_capture((test::source_dir() / "examples/captures/stacks-h200.capture").string());
  ASSERT_TRUE(capture.ok());
  Observations seen = capture.value().observations;
  append_observations(
      seen, observe_log("step 12.5 ms\nstep 13 ms\nother\n", log_patterns_of(plan, experiment)));
  add_planned_metrics(plan, experiment, seen);
  ASSERT_NE(seen.find("batch_size_over_time", batch.names[0]), nullptr);
  EXPECT_EQ(seen.find("batch_size_over_time", batch.names[0])->values.size(), 6u);
  ASSERT_NE(seen.find("step_time", batch.names[0]), nullptr);
  // How long a call takes is no time to a first token: a call of generate ends with the last one.
  EXPECT_EQ(seen.find("ttft", batch.names[0]), nullptr);
  ASSERT_NE(seen.find("log_value", "tokens [{int}"), nullptr);
  ASSERT_NE(seen.find("itl", "step {float} ms"), nullptr);
  ASSERT_EQ(seen.find("itl", "step {float} ms")->values.size(), 2u);
  EXPECT_NEAR(seen.find("itl", "step {float} ms")->values[1], 0.013, 1e-12);
}

}  // namespace
}  // namespace fathom
