#include "base/closest_names.h"

#include "checks.h"

namespace fathom {
namespace {

using NameList = std::vector<std::string>;

const NameList kOps = {"aten::mm", "aten::addmm", "aten::copy_", "aten::convolution"};

TEST(ClosestNames, MisspeltAndShortened) {
  EXPECT_EQ(closest_names("aten::nm", kOps, 1), NameList{"aten::mm"});
  EXPECT_EQ(closest_names("copy", kOps, 3), NameList{"aten::copy_"});
  EXPECT_EQ(closest_names("mm", kOps, 3), (NameList{"aten::mm", "aten::addmm"}));
}

TEST(ClosestNames, NoneOfThem) {
  EXPECT_EQ(closest_names("xyzzy", kOps, 3), NameList{});
  EXPECT_EQ(closest_names("aten::mm", {}, 3), NameList{});
}

TEST(ClosestNames, DidYouMean) {
  const NameList commands = {"analyze", "platforms", "diff", "replay", "scan", "help"};
  EXPECT_EQ(did_you_mean("analyse", commands), "; did you mean 'analyze'?");
  EXPECT_EQ(did_you_mean("plat", commands), "; did you mean 'platforms'?");
  EXPECT_EQ(did_you_mean("sacn", commands), "; did you mean 'scan'?");
  EXPECT_EQ(did_you_mean("frobnicate", commands), "");
  EXPECT_EQ(did_you_mean("foo", commands), "");
  EXPECT_EQ(did_you_mean("", commands), "");
}

TEST(ClosestNames, LongNamesAreCutBeforeTheyAreCompared) {
  const NameList names = {std::string(1 << 20, 'a'), "b"};
  EXPECT_EQ(closest_names(std::string(1 << 20, 'a') + "x", names, 3), NameList{names[0]});
}

}  // namespace
}  // namespace fathom
