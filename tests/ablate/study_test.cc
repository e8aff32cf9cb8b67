// What made-up measurements mean.
#include "plan/ablate/study.h"

#include <algorithm>
#include <random>

#include "checks.h"
#include "plan/ablate/records.h"
#include "plan/ablate/study_report.h"
#include "plan/ablate/study_words.h"

namespace fathom::ablate {
namespace {

class AblateStudy : public ::testing::Test {
 protected:
  void SetUp() override {
    use(R"(
title = "study"
platform = "h200"
[run]
command = ["./a"]
[time]
pattern = "time_us = {float}"
second = "capture"
[work]
bytes = 48000000     # 10 µs at 4.8 TB/s
[[variant]]
name = "v0"
[[variant]]
name = "v1"
change = "wider loads"
hypothesis = "uncoalesced"
expects = { load_requests = "down" }
[[variant]]
name = "v2"
)");
  }

  void use(const std::string& text) {
    Result<Suite> read = parse_suite(text, "s.toml");
    ASSERT_TRUE(read.ok()) << read.error().message;
    suite_ = read.take();
  }

  // Times around a median, in microseconds, with a spread of half a percent.
  void time(const std::string& name, double micros, double spread = 0.005, int count = 10) {
    VariantMeasurements& m = of(name);
    std::normal_distribution<double> normal(1, spread);
    for (int i = 0; i < count; ++i) {
      Sample sample;
      sample.seconds = micros * 1e-6 * normal(random_);
      sample.order = order_++;
      m.cases[0].samples.push_back(sample);
    }
  }

  VariantMeasurements& of(const std::string& name) {
    VariantMeasurements& m = measurements_.variants[name];
    m.cases.resize(suite_.cases.size());
    m.build.done = m.build.ok = true;
    return m;
  }

  void count(const std::string& name, HardwareValues values) {
    Counted& c = of(name).counters;
    c.done = c.ok = true;
    c.kernel = "kernel";
    c.gpu = "NVIDIA H200";
    c.values = std::move(values);
    add_derived_values(c.values);
  }

  Study study() {
    const auto platform = Platforms::built_in().find("h200");
    return make_study(suite_, measurements_, platform.value());
  }

  Suite suite_;
  Measurements measurements_;
  std::mt19937 random_{1};
  int64_t order_ = 0;
};

TEST_F(AblateStudy, FasterIsKeptAndNoiseIsNoDifference) {
  time("v0", 100), time("v1", 80), time("v2", 80.2);
  const Study s = study();
  EXPECT_EQ(s.rows[0].decision, Decision::kBaseline);
  EXPECT_EQ(s.rows[1].decision, Decision::kKept);
  ASSERT_TRUE(s.rows[1].over_parent[0]);
  EXPECT_NEAR(s.rows[1].over_parent[0]->ratio, 1.25, 0.02);
  EXPECT_EQ(s.rows[1].over_parent[0]->difference, Difference::kFaster);
  EXPECT_EQ(s.rows[2].over_parent[0]->difference, Difference::kNone);
  EXPECT_EQ(s.rows[2].decision, Decision::kDropped);
  EXPECT_EQ(s.rows[*s.best].variant->name, "v1");
  EXPECT_NE(optimization_report(s, {}).find("no difference"), std::string::npos);
}

TEST_F(AblateStudy, TooFewRunsGiveNoInterval) {
  time("v0", 100), time("v1", 50), time("v2", 25);
  for (const char* name : {"v0", "v1"}) of(name).cases[0].samples.resize(1);
  const Study s = study();
  const SpeedUp& few = *s.rows[1].over_parent[0];
  EXPECT_EQ(few.difference, Difference::kUnknown);
  EXPECT_FALSE(few.has_interval);
  EXPECT_EQ(speed_up_text(few).find("("), std::string::npos) << speed_up_text(few);
  EXPECT_EQ(optimization_report(s, {}).find("× ("), std::string::npos);
}

TEST_F(AblateStudy, WhatTheBestBuildsOnIsKeptAsABase) {
  time("v0", 100), time("v1", 100), time("v2", 50);
  const Study s = study();
  EXPECT_EQ(s.rows[1].decision, Decision::kCarried);
  EXPECT_EQ(s.rows[2].decision, Decision::kKept);
}

TEST_F(AblateStudy, NotBuiltWrongAndFailedHaveAReasonAndNoTime) {
  time("v0", 100), time("v1", 1), time("v2", 1);
  suite_.check.command.words = {"./check"};
  for (const char* name : {"v0", "v2"}) of(name).check.done = of(name).check.ok = true;
  of("v1").check.done = true;
  of("v1").check.reason = "value 3 is 1 where 2 is expected";
  of("v2").cases[0].problem = "ended at its limit of 10 s";
  Study s = study();
  EXPECT_EQ(s.rows[1].state, RowState::kWrong);
  EXPECT_FALSE(s.rows[1].times[0]);
  EXPECT_EQ(verdict_text(s.rows[1]), "wrong: value 3 is 1 where 2 is expected");
  EXPECT_EQ(s.rows[2].state, RowState::kNotRun);
  EXPECT_FALSE(s.rows[2].times[0]);
  EXPECT_EQ(s.rows[*s.best].variant->name, "v0");
  Step& build = of("v1").build;
  build.ok = false;
  build.reason = "exit status 1";
  s = study();
  EXPECT_EQ(verdict_text(s.rows[1]), "not built: exit status 1");
}

TEST_F(AblateStudy, TimesUnderTheFloorAreRefusedAndThoseAboveAreNot) {
  time("v0", 100), time("v1", 9.9, 1e-4), time("v2", 10.1, 1e-4);
  const Study s = study();
  EXPECT_EQ(s.rows[1].state, RowState::kUnderFloor);
  EXPECT_FALSE(s.rows[1].times[0]);
  EXPECT_FALSE(s.rows[1].over_baseline[0]);
  EXPECT_EQ(s.rows[2].state, RowState::kTimed);
  EXPECT_EQ(s.rows[*s.best].variant->name, "v2");
  EXPECT_NE(verdict_text(s.rows[1]).find("under the roofline floor of 10.00 µs"), std::string::npos)
      << verdict_text(s.rows[1]);
}

TEST_F(AblateStudy, LessWorkIsFlaggedAndBytesInCachesAreNot) {
  time("v0", 100), time("v1", 50), time("v2", 50);
  const HardwareValues all = {{"dram_read", 24},
                              {"dram_written", 24},
                              {"load_sectors", 0.75e6},
                              {"store_sectors", 0.75e6},
                              {"duration_us", 50}};
  HardwareValues cached = all, less = all;
  cached["dram_read"] = cached["dram_written"] = 1;  // L2 has the rest
  less["dram_read"] = less["dram_written"] = 10;
  less["load_sectors"] = less["store_sectors"] = 0.3e6;  // 19 of 48 MB
  count("v0", all), count("v1", less), count("v2", cached);
  const Study s = study();
  EXPECT_EQ(s.rows[1].decision, Decision::kDropped);
  EXPECT_EQ(verdict_text(s.rows[1]), "does less work: dropped");
  EXPECT_TRUE(s.rows[2].warnings.empty()) << warning_text(s.rows[2].warnings[0]);
  suite_.work.flop = 1e9;
  HardwareValues tensor = cached;
  tensor["tensor_flop"] = 5e8, tensor["vector_flop"] = 0, tensor["tensor"] = 50;
  count("v2", tensor);
  EXPECT_EQ(study().rows[2].decision, Decision::kDropped);
  tensor["tensor_flop"] = 0;  // busy tensor cores whose operations were not counted
  count("v2", tensor);
  EXPECT_NE(study().rows[2].decision, Decision::kBaseline);
  EXPECT_TRUE(study().rows[2].warnings.empty());
}

TEST_F(AblateStudy, TimersThatDisagreeOutliersAndDriftAreFlagged) {
  time("v0", 100), time("v1", 80), time("v2", 90);
  count("v0", {}), count("v1", {});
  of("v0").counters.kernel_seconds = 99e-6;
  of("v1").counters.kernel_seconds = 60e-6;
  of("v2").cases[0].samples[3].seconds *= 3;
  const Study s = study();
  const auto has = [](const StudyRow& row, Warning::Kind kind) {
    for (const Warning& warning : row.warnings) {
      if (warning.kind == kind) return true;
    }
    return false;
  };
  EXPECT_FALSE(has(s.rows[0], Warning::Kind::kTimersDisagree));
  EXPECT_TRUE(has(s.rows[1], Warning::Kind::kTimersDisagree));
  EXPECT_TRUE(has(s.rows[2], Warning::Kind::kOutliers));
  EXPECT_FALSE(s.has_drift);
  for (auto& [name, m] : measurements_.variants) {
    for (Sample& sample : m.cases[0].samples)
      sample.seconds *= 1 + 0.01 * static_cast<double>(&sample - m.cases[0].samples.data());
  }
  EXPECT_TRUE(has(study().rows[0], Warning::Kind::kDrift));
}

TEST_F(AblateStudy, AClockThatVariesIsFlaggedAndJitterIsNot) {
  time("v0", 100), time("v1", 80);
  for (size_t i = 0; i < 10; ++i) {
    of("v0").cases[0].samples[i].clock_mhz = i < 5 ? 1980 : 1965;
    of("v0").cases[0].samples[i].temperature = 40 + static_cast<double>(i);
    of("v1").cases[0].samples[i].clock_mhz = i < 5 ? 1980 : 1700;
    of("v1").cases[0].samples[i].temperature = 40 + 3 * static_cast<double>(i);
  }
  const Study s = study();
  EXPECT_TRUE(s.rows[0].warnings.empty()) << warning_text(s.rows[0].warnings[0]);
  ASSERT_EQ(s.rows[1].warnings.size(), 2u);
  EXPECT_EQ(warning_text(s.rows[1].warnings[0]), "GPU clock between 1700 and 1980 MHz");
  EXPECT_EQ(warning_text(s.rows[1].warnings[1]), "GPU temperature between 40 and 67 °C");
}

TEST_F(AblateStudy, CountersThatMoveAsPredictedOrNot) {
  time("v0", 100), time("v1", 80), time("v2", 70);
  count("v0", {{"load_requests", 68e6}, {"occupancy", 36}});
  count("v1", {{"load_requests", 8.5e6}, {"occupancy", 36}});
  count("v2", {{"load_requests", 8.5e6}, {"occupancy", 72}});
  const Study s = study();
  ASSERT_EQ(s.rows[1].expected.size(), 1u);
  EXPECT_EQ(s.rows[1].expected[0].as_expected, true);
  ASSERT_TRUE(s.rows[1].moved);
  EXPECT_EQ(s.rows[1].moved->value, "load_requests");
  ASSERT_TRUE(s.rows[2].moved);
  EXPECT_EQ(s.rows[2].moved->value, "occupancy");
  count("v1", {{"load_requests", 67e6}, {"occupancy", 36}});
  EXPECT_EQ(study().rows[1].expected[0].as_expected, false);
}

TEST_F(AblateStudy, NextIsTheLargestConfirmedGainThatWasNotTriedOnTheBest) {
  time("v0", 100), time("v1", 80);
  // Three quarters of the wavefronts are conflicts: confirmed by data/hypotheses.
  const HardwareValues conflicts = {{"bank_conflicts", 75},
                                    {"shared_data", 90},
                                    {"lsu_data", 92},
                                    {"l1_throughput", 92},
                                    {"dram_throughput", 10},
                                    {"l2_sectors", 10},
                                    {"l2_throughput", 10},
                                    {"issue", 0.3},
                                    {"tensor", 0},
                                    {"alu_pipe", 10},
                                    {"fma_pipe", 20},
                                    {"fp64_pipe", 0},
                                    {"xu_pipe", 5},
                                    {"sm_throughput", 92},
                                    {"duration_us", 80},
                                    {"occupancy", 50},
                                    {"sm_cycles_avg", 1e5},
                                    {"sm_clock", 1.98e9},
                                    {"stall_short_scoreboard", 60}};
  count("v1", conflicts);
  Study s = study();
  ASSERT_EQ(s.rows[*s.best].variant->name, "v1");
  const auto has = [&](const char* id) {
    return std::ranges::any_of(
        s.next, [&](const NextHypothesis& next) { return next.tested.hypothesis->id == id; });
  };
  ASSERT_TRUE(has("bank_conflicts")) << next_text(s);
  EXPECT_NE(next_text(s).find("Next: "), std::string::npos);
  EXPECT_EQ(next_text(s).find("by the roofline floor"), std::string::npos) << "8 × are left";
  suite_.work.bytes = 80e-6 / 1.1 * 4.8e12;
  s = study();
  ASSERT_FALSE(s.next.empty());
  EXPECT_NEAR(*s.next[0].most_gain, 1.1, 0.01);
  EXPECT_NE(next_text(s).find("at most 1.10 × by the roofline floor"), std::string::npos)
      << next_text(s);
  suite_.work.bytes = 48e6;
  measurements_.notes.push_back({"v1", "dropped", "padding did not help", "bank_conflicts", ""});
  s = study();
  EXPECT_FALSE(has("bank_conflicts"));
}

TEST_F(AblateStudy, ANoteDecides) {
  time("v0", 100), time("v1", 80), time("v2", 60);
  measurements_.notes.push_back({"v2", "dropped", "breaks at odd sizes", "", "2026-01-01"});
  const Study s = study();
  EXPECT_EQ(s.rows[2].decision, Decision::kDropped);
  EXPECT_EQ(s.rows[*s.best].variant->name, "v1");
  EXPECT_NE(optimization_report(s, {}).find("breaks at odd sizes"), std::string::npos);
}

TEST_F(AblateStudy, InteractionOfFlags) {
  use(R"(
title = "flags"
[run]
command = ["./a", "{flags}"]
[[flag]]
name = "a"
flags = "-a"
[[flag]]
name = "b"
flags = "-b"
[[flag]]
name = "c"
flags = "-c"
[[flag]]
name = "d"
flags = "-d"
)");
  // a and b save the same time; c and d are independent factors.
  const auto model = [](const std::vector<std::string>& flags) {
    const auto on = [&](const char* f) { return std::ranges::find(flags, f) != flags.end(); };
    return 100 * (on("a") || on("b") ? 0.5 : 1) * (on("c") ? 0.8 : 1) * (on("d") ? 0.9 : 1);
  };
  for (const Variant& variant : suite_.variants) {
    if (!variant.only_if_pairs_matter) time(variant.name, model(variant.flag_names));
  }
  Study s = study();
  ASSERT_EQ(s.flags.size(), 4u);
  EXPECT_TRUE(s.flags[0].differs);
  EXPECT_TRUE(s.flags[1].differs);
  EXPECT_FALSE(s.flags[2].differs);
  const std::vector<std::string> pairs = pairs_that_matter(s);
  ASSERT_FALSE(pairs.empty());
  EXPECT_EQ(pairs[0], "a+b");
  EXPECT_EQ(std::ranges::find(pairs, "c+d"), pairs.end());
  for (const std::string& name : pairs) time(name, model(suite_.find(name)->flag_names));
  s = study();
  ASSERT_FALSE(s.pairs.empty());
  EXPECT_EQ(s.pairs[0].first + s.pairs[0].second, "ab");
  EXPECT_EQ(s.pairs[0].interaction.difference, Difference::kSlower);
  EXPECT_NEAR(s.pairs[0].interaction.ratio, 0.5, 0.02);
  for (const PairEffect& pair : s.pairs) {
    if (pair.first != "a" || pair.second != "c") continue;
    EXPECT_EQ(pair.interaction.difference, Difference::kNone);
  }
}

TEST_F(AblateStudy, ReportHasAllSectionsAndMoneyAndInertText) {
  use(R"(
title = "x <script> | y"
[run]
command = ["./a"]
[[variant]]
name = "v0"
[[variant]]
name = "v1"
change = "a | b <b>@user"
)");
  time("v0", 100), time("v1", 50);
  of("v1").diff = "```\n</details>\n";
  measurements_.seconds_spent = 7200;
  const Study s = make_study(suite_, measurements_, nullptr);
  const std::string report = optimization_report(s, {3.5});
  for (const char* part :
       {"## Objective", "## Initial state", "## Method", "## Bottlenecks identified",
        "## Fixes applied", "## Ablation table", "## Final result", "## What worked",
        "## What did not", "## What is left", "## Time and money spent", "$7.00", "2.00 h",
        "**Identified**", "**Hypothesis**", "**Implemented**", "**Validated**", "**Decision**"})
    EXPECT_NE(report.find(part), std::string::npos) << part;
  EXPECT_EQ(report.find("<script>\n"), std::string::npos);
  EXPECT_NE(report.find("````diff"), std::string::npos) << "the diff's own fence ends the block";
  EXPECT_EQ(waterfall_svg(s).find("<script>"), std::string::npos);
  EXPECT_NE(waterfall_svg(s).find("</svg>"), std::string::npos);
}

TEST_F(AblateStudy, RecordsGoToAJournalAndBack) {
  const SuitePlan plan = plan_suite(suite_, {"/t", "/s", ""}, {}).take();
  Counted counted;
  counted.done = counted.ok = true;
  counted.kernel = "k\tx\n=";
  counted.kernel_seconds = 1.25e-4;
  counted.values = {{"occupancy", 36.5}};
  counted.stalls = {{"long_scoreboard", 60}};
  Sample sample;
  sample.seconds = 1.2345678901234567e-4;
  sample.order = 4;
  Step build;
  build.done = build.ok = true;
  const StepOf of{"v1", plan.variants[1].build_key, 7};
  std::vector<JournalRecord> records = {
      build_record(of, build),
      counters_record({"v1", plan.variants[1].counters_key, 7}, counted),
      run_record({"v1", plan.variants[1].run_keys[0], 7}, "", 2, sample, ""),
      note_record({"v1", "kept", "a\tb", "", "now"}),
      run_record({"v1", plan.variants[1].run_keys[0], 8}, "", 3, sample, ""),  // another source
      run_record({"v1", 1, 7}, "", 3, sample, ""),                             // another command
      run_record({"v9", 1, 7}, "", 3, sample, "")};
  const FoundSteps found = read_records(records, suite_, plan, {7, 7, 7});
  const VariantMeasurements& m = found.measurements.variants.at("v1");
  EXPECT_TRUE(m.build.ok);
  EXPECT_EQ(m.counters.kernel, counted.kernel);
  EXPECT_EQ(m.counters.values.at("occupancy"), 36.5);
  ASSERT_EQ(m.cases[0].samples.size(), 1u);
  EXPECT_EQ(m.cases[0].samples[0].seconds, sample.seconds);
  EXPECT_EQ(found.rounds.at("v1")[0], std::vector<int64_t>{2});
  EXPECT_EQ(found.measurements.stale, 3u);
  EXPECT_EQ(found.next_order, 5);
  EXPECT_EQ(found.measurements.notes.at(0).text, "a\tb");
  // A replay is of the source that was measured last: nothing before that edit counts.
  const VariantMeasurements last =
      read_records(records, suite_, plan, {}).measurements.variants.at("v1");
  EXPECT_EQ(last.cases[0].samples.size(), 1u);
  EXPECT_FALSE(last.build.done);
}

TEST_F(AblateStudy, AnEditedJournalGivesNumbersThatCanBeCountedOn) {
  const SuitePlan plan = plan_suite(suite_, {"/t", "/s", ""}, {}).take();
  Sample sample;
  sample.seconds = 1e-4;
  for (const int64_t order : {INT64_MAX, INT64_MIN, int64_t{0}}) {
    sample.order = order;
    const FoundSteps found =
        read_records({run_record({"v1", plan.variants[1].run_keys[0], 7}, "", 0, sample, "")},
                     suite_, plan, {7, 7, 7});
    EXPECT_GT(found.next_order, 0) << order;
    EXPECT_LT(found.next_order, INT64_MAX / 2) << order;
  }
}

}  // namespace
}  // namespace fathom::ablate
