#include "analyze/symptoms.h"

#include "checks.h"

namespace fathom {
namespace {

Finding about(FindingKind kind, std::string title, int64_t saving, std::vector<size_t> events) {
  Finding f;
  f.kind = kind;
  f.title = std::move(title);
  f.saving_at_most = Nanos{saving};
  f.priority = Priority::kMedium;
  for (const size_t e : events) f.covered.push_back({EventId(e), Nanos{100}});
  return f;
}

std::vector<std::string> listed(std::vector<Finding> findings) {
  list_symptoms_under_causes(findings);
  std::vector<std::string> lines;
  for (const Finding& f : findings)
    lines.push_back(f.under.empty() ? f.title : "  " + f.title + " < " + f.under);
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Symptoms, APatternIsTheCauseOfWhatItShowsAs) {
  EXPECT_EQ(listed({about(FindingKind::kExposedCopies, "exposed", 100, {1, 2, 3}),
                    about(FindingKind::kPageableCopies, "pageable", 90, {1, 2, 3})}),
            (Lines{"pageable", "  exposed < pageable"}));
  EXPECT_EQ(listed({about(FindingKind::kExposedCopies, "exposed", 100, {1, 2, 3}),
                    about(FindingKind::kPageableCopies, "pageable", 20, {1, 2, 3})}),
            (Lines{"exposed", "pageable"}))
      << "it bears a small part of the saving";
  EXPECT_EQ(listed({about(FindingKind::kExposedCopies, "exposed", 100, {1, 2, 3}),
                    about(FindingKind::kPageableCopies, "pageable", 90, {1})}),
            (Lines{"exposed", "pageable"}))
      << "it is about a part of the work";
}

TEST(Symptoms, OfTwoThatTellAsMuchTheLargerIsTheCause) {
  EXPECT_EQ(listed({about(FindingKind::kFusibleChain, "chain", 100, {1, 2, 3}),
                    about(FindingKind::kLowEfficiency, "op", 30, {2}),
                    about(FindingKind::kLowEfficiency, "other op", 20, {7})}),
            (Lines{"chain", "  op < chain", "other op"}));
}

TEST(Symptoms, IdleTimeIsNotTheWorkThatItIsPutDownTo) {
  EXPECT_EQ(listed({about(FindingKind::kQueuedWork, "queued", 100, {1}),
                    about(FindingKind::kLowEfficiency, "op", 30, {1})}),
            (Lines{"queued", "op"}));
}

TEST(Symptoms, ACauseIsAsUrgentAsItsSymptoms) {
  std::vector<Finding> findings = {about(FindingKind::kExposedCopies, "exposed", 100, {1}),
                                   about(FindingKind::kCopiesInTurns, "turns", 90, {1})};
  findings[0].priority = Priority::kCritical;
  list_symptoms_under_causes(findings);
  EXPECT_EQ(findings[0].title, "turns");
  EXPECT_EQ(findings[0].priority, Priority::kCritical);
}

std::vector<std::string> in_order(std::vector<Finding> findings, size_t steps) {
  put_waits_before_late_launches(findings, steps, Nanos{200});
  std::vector<std::string> titles;
  for (const Finding& f : findings) titles.push_back(f.title);
  return titles;
}

TEST(Symptoms, WaitsInsideAStepComeBeforeTheLaunchesBehindThem) {
  const Finding launches = about(FindingKind::kHostBound, "launches", 100, {1, 2, 3});
  const Finding chain = about(FindingKind::kFusibleChain, "chain", 60, {4});
  const auto waits = [](int64_t saving, std::vector<size_t> events, int64_t for_certain = 5) {
    Finding f = about(FindingKind::kSynchronization, "waits", saving, std::move(events));
    f.saving_at_least = Nanos{for_certain};
    return f;
  };
  EXPECT_EQ(in_order({launches, chain, waits(30, {7, 8, 9, 10})}, 2),
            (Lines{"waits", "launches", "chain"}));
  EXPECT_EQ(in_order({launches, chain, waits(30, {7, 8})}, 2),
            (Lines{"launches", "chain", "waits"}))
      << "one at the end of each step: a loss that is read";
  EXPECT_EQ(in_order({launches, waits(5, {7, 8, 9, 10})}, 2), (Lines{"launches", "waits"}))
      << "they cost next to nothing";
  EXPECT_EQ(in_order({launches, waits(30, {7, 8, 9, 10}, 1)}, 2), (Lines{"launches", "waits"}))
      << "copies that may not hold the host up";
  EXPECT_EQ(in_order({launches, waits(30, {7, 8, 9, 10})}, 0), (Lines{"launches", "waits"}))
      << "no steps: nothing tells how often";
}

TEST(Symptoms, WaitsNeverComeBeforeWhatIsMoreUrgent) {
  Finding launches = about(FindingKind::kHostBound, "launches", 100, {1, 2, 3});
  Finding table = about(FindingKind::kRepeatedTables, "table", 60, {4});
  Finding waits = about(FindingKind::kSynchronization, "waits", 30, {7, 8, 9, 10});
  waits.saving_at_least = Nanos{5};
  launches.priority = Priority::kCritical;
  table.priority = waits.priority = Priority::kMedium;
  EXPECT_EQ(in_order({launches, table, waits}, 2), (Lines{"launches", "waits", "table"}));
  table.priority = Priority::kHigh;
  EXPECT_EQ(in_order({launches, table, waits}, 2), (Lines{"launches", "table", "waits"}));
}

TEST(Symptoms, BookkeepingOfGradientsIsNotTheWorkOfTheOps) {
  EXPECT_EQ(listed({about(FindingKind::kGradientMode, "graph", 100, {1, 2, 3}),
                    about(FindingKind::kCasts, "casts", 90, {1, 2})}),
            (Lines{"graph", "casts"}));
}

}  // namespace
}  // namespace fathom
