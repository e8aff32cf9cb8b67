#include "measure/hypotheses.h"

#include <algorithm>
#include <map>

#include "checks.h"
#include "measure/formula.h"

namespace fathom::test {
namespace {

TEST(Hypotheses, DataIsWhole) {
  EXPECT_GE(hypotheses().size(), 20u);
  std::map<std::string_view, int> ids;
  for (const Hypothesis& hypothesis : hypotheses()) {
    EXPECT_EQ(ids[hypothesis.id]++, 0) << hypothesis.id;
    EXPECT_FALSE(hypothesis.when.empty()) << hypothesis.id;
    EXPECT_FALSE(hypothesis.fix.empty()) << hypothesis.id;
    EXPECT_FALSE(hypothesis.source.empty()) << hypothesis.id;
    EXPECT_FALSE(hypothesis.evidence.empty()) << hypothesis.id;
    std::vector<std::string_view> names = hypothesis.evidence;
    for (const Formula* formula :
         {&hypothesis.applies, &hypothesis.when, &hypothesis.unless, &hypothesis.best}) {
      for (const std::string_view name : formula->names()) names.push_back(name);
    }
    if (!hypothesis.bound.empty()) names.push_back(hypothesis.bound);
    for (const std::string_view name : names)
      EXPECT_TRUE(is_known_value(name)) << hypothesis.id << ": " << name;
    for (const std::string_view cause : hypothesis.explained_by)
      EXPECT_NE(std::ranges::find(hypotheses(), cause, &Hypothesis::id), hypotheses().end())
          << hypothesis.id << ": " << cause;
  }
  EXPECT_FALSE(is_known_value("no_such_value"));
}

TEST(Formulas, PrecedenceUnknownsAndFaults) {
  const Formula::Lookup lookup = [](std::string_view name) -> std::optional<double> {
    if (name == "a") return 2;
    if (name == "zero") return 0;
    return {};
  };
  const auto value = [&](std::string_view text) {
    Result<Formula> formula = Formula::parse(text);
    EXPECT_TRUE(formula.ok()) << text;
    return formula.value().value(lookup);
  };
  EXPECT_EQ(value("1 + a * 3 - 4 / 2"), 5);
  EXPECT_EQ(value("(1 + a) * 3 > 8 & a < 3"), 1);
  EXPECT_EQ(value("max(a, 7) - min(a, 7)"), 5);
  EXPECT_EQ(value("x > 1"), std::nullopt);
  EXPECT_EQ(value("x > 1 & a > 5"), 0);
  EXPECT_EQ(value("x > 1 | a > 1"), 1);
  EXPECT_EQ(value("x > 1 | a > 5"), std::nullopt);
  EXPECT_EQ(value("known(x, 4) + known(a, 4)"), 6);
  EXPECT_EQ(value("a / zero"), std::nullopt);
  Result<Formula> formula = Formula::parse("x > 1 & a > 1 & y < x");
  EXPECT_EQ(formula.value().missing(lookup), (std::vector<std::string_view>{"x", "y"}));
  const auto deciding = [&](std::string_view text) {
    return Formula::parse(text).value().deciding(lookup);
  };
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(deciding("a > 1 & zero > 1 & x > 1"), (Names{"zero"}));
  EXPECT_EQ(deciding("a > 5 | zero > 1"), (Names{"a", "zero"}));
  EXPECT_EQ(deciding("a > 1 | zero > 1 | x > 1"), (Names{"a"}));
  EXPECT_EQ(deciding("known(a, zero) > 5"), (Names{"a"}));
  EXPECT_EQ(deciding(""), Names{});
  for (const char* bad : {"a +", "(a", "a b", "foo(a, 1)", "max(a)", "a > > 1", "%", "1 2"})
    EXPECT_FALSE(Formula::parse(bad).ok()) << bad;
  EXPECT_FALSE(Formula::parse(std::string(100'000, '(')).ok());
}

}  // namespace
}  // namespace fathom::test
