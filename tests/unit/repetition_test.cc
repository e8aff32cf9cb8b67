#include "tree/repetition.h"

#include <string_view>

#include "checks.h"

namespace fathom {
namespace {

// One symbol for each letter, each of 1 µs; a space is a gap of 5 µs before the next.
WorkSequence sequence_of(std::string_view letters) {
  WorkSequence sequence;
  Nanos gap;
  for (char c : letters) {
    if (c == ' ') {
      gap = Nanos{5000};
      continue;
    }
    sequence.symbols.push_back(static_cast<uint32_t>(c - 'A'));
    sequence.times.push_back(Nanos{1000});
    sequence.gaps.push_back(gap);
    gap = {};
  }
  number_pairs(sequence);
  return sequence;
}

// "3x4@1": three runs, the first of four symbols from place 1.
std::string found_in(std::string_view letters) {
  const std::vector<RepeatedPart> parts = find_repetition(sequence_of(letters));
  if (parts.empty()) return "none";
  return std::to_string(parts.size()) + "x" + std::to_string(parts[0].end - parts[0].begin) + "@" +
         std::to_string(parts[0].begin);
}

TEST(Repetition, OfEqualSteps) { EXPECT_EQ(found_in("ABCDABCDABCD"), "3x4@0"); }

TEST(Repetition, AfterAWarmUp) { EXPECT_EQ(found_in("XYZWABCDEABCDEABCDEABCDE"), "4x5@4"); }

// E…H: a step of three layers.
TEST(Repetition, StepsRatherThanLayers) {
  EXPECT_EQ(found_in("EABCABCABCHEABCABCABCHEABCABCABCH"), "3x11@0");
}

TEST(Repetition, LayersWhereThereIsOneStep) {
  EXPECT_EQ(found_in("XABCDABCDABCDABCDABCDABCDY"), "6x4@1");
}

TEST(Repetition, RunsMayDifferALittle) {
  EXPECT_EQ(found_in("ABCDEFGHIJABCDEFGHIJABCDXFGHIJABCDEFGHIJ"), "4x10@0");
}

TEST(Repetition, TwoStreamsInterleaveDifferently) {
  EXPECT_EQ(found_in("ABCDEFABDCEFABCDFEABCDEF"), "4x6@0");
}

TEST(Repetition, ARotatedStepBeginsAfterTheGaps) {
  EXPECT_EQ(found_in("CD EFABCD EFABCD EFABCD EFAB"), "4x6@2");
}

TEST(Repetition, NoneInWorkWithoutOrder) {
  EXPECT_EQ(found_in("ABCDEFGHIJKLMNOPQRST"), "none");
  EXPECT_EQ(found_in("ABACCABDDBACADBBCADCABDACCB"), "none");
  EXPECT_EQ(found_in("AAAAAAAAAAAA"), "none") << "one kernel over and over has no steps";
  EXPECT_EQ(found_in(""), "none");
}

TEST(Repetition, NoneWhereRepeatsAreTheSmallerPart) {
  EXPECT_EQ(found_in("ABCABCABCDEFGHIJKLMNOPQRSTUVWXYZ"), "none");
}

TEST(Repetition, TwoRunsMustBeNearlyEqual) {
  EXPECT_EQ(found_in("ABCDEFGHABCDEFGH"), "2x8@0");
  EXPECT_EQ(found_in("ABCDEFGHABXDEYGH"), "none");
}

TEST(AlikeParts, MostOfThemOrNone) {
  const WorkSequence sequence = sequence_of("ABCDABCDXYZWABCD");
  const RepeatedPart parts[] = {{0, 4}, {4, 8}, {8, 12}, {12, 16}};
  EXPECT_EQ(alike_parts(sequence, parts).size(), 3u);
  const WorkSequence other = sequence_of("ABCDEFGHXYZWABCD");
  EXPECT_EQ(alike_parts(other, parts).size(), 2u);
  EXPECT_EQ(alike_parts(sequence_of("ABCDEFGHIJKLMNOP"), parts).size(), 0u);
}

}  // namespace
}  // namespace fathom
