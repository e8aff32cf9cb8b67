// Every rule of data/features/ has code that makes it fire and a near twin that does not: the same
// words in a comment, a docstring, a string, a test, a kernel that nothing launches, or one signal
// too few.
#include <algorithm>
#include <set>

#include "checks.h"
#include "scan/features/pairs.h"

namespace fathom {
namespace {

using test::RulePair;

template <typename Parts>
bool has(const Parts& parts, const std::string& id) {
  return std::ranges::any_of(parts, [&](const auto& part) { return part.id == id; });
}

TEST(RulePairs, EveryFeatureFiresAndItsNearTwinDoesNot) {
  for (const RulePair& pair : test::read_pairs(false)) {
    EXPECT_TRUE(has(test::recognise(pair.fires).features, pair.rule))
        << pair.where << ": " << pair.rule << " does not fire";
    EXPECT_FALSE(has(test::recognise(pair.silent).features, pair.rule))
        << pair.where << ": " << pair.rule << " fires on its near twin";
  }
}

TEST(RulePairs, EveryComponentFiresAndItsNearTwinDoesNot) {
  for (const RulePair& pair : test::read_pairs(true)) {
    EXPECT_TRUE(has(test::recognise(pair.fires).components, pair.rule))
        << pair.where << ": " << pair.rule << " does not fire";
    EXPECT_FALSE(has(test::recognise(pair.silent).components, pair.rule))
        << pair.where << ": " << pair.rule << " fires on its near twin";
  }
}

template <typename Rules>
void expect_a_pair_each(const Rules& rules, bool components) {
  std::set<std::string> tested, known;
  for (const RulePair& pair : test::read_pairs(components)) {
    tested.insert(pair.rule);
    const auto empty = [](const test::SmallRepository& side) {
      return side.files.empty() && side.facts.empty();
    };
    EXPECT_FALSE(empty(pair.fires) || empty(pair.silent)) << pair.where << ": half a pair";
  }
  for (const auto& rule : rules) {
    known.emplace(rule.id);
    EXPECT_TRUE(tested.contains(std::string(rule.id))) << rule.id << " has no pair";
  }
  for (const std::string& rule : tested) EXPECT_TRUE(known.contains(rule)) << rule << ": no rule";
}

TEST(RulePairs, EveryRuleHasOne) {
  expect_a_pair_each(FeatureRules::built_in().features(), false);
  expect_a_pair_each(FeatureRules::built_in().components(), true);
}

// A name that the alternative's glob allows.
std::string example_of(std::string glob) {
  std::ranges::replace(glob, '*', 'x');
  return glob;
}

std::string source_with(SignalKind kind, const std::string& name) {
  switch (kind) {
    case SignalKind::kName:
      return "y = " + name + "\n";
    case SignalKind::kClass:
      return "class " + name + ":\n    pass\n";
    case SignalKind::kDef:
      return "def " + name + "():\n    pass\n";
    case SignalKind::kCall:
      return name + "(1)\n";
    case SignalKind::kImport:
      return "import " + name + "\n";
    default:
      return "";
  }
}

// Folding must not turn an alternative into something that no identifier can be.
TEST(RulePairs, EveryAlternativeCanBeFound) {
  const FeatureRules& rules = FeatureRules::built_in();
  const SignalTable table(rules);
  for (uint32_t i = 0; i < rules.signals().size(); ++i) {
    for (const std::string& alternative : rules.signals()[i].alternatives) {
      const std::string source = source_with(rules.signals()[i].kind, example_of(alternative));
      if (source.empty()) continue;
      SignalFinder finder(table);
      const FileSignals found = finder.find(python::lex(source));
      EXPECT_TRUE(std::ranges::any_of(found, [i](const SignalHit& hit) { return hit.signal == i; }))
          << signal_kind_name(rules.signals()[i].kind) << ":" << alternative << " in " << source;
    }
  }
}

}  // namespace
}  // namespace fathom
