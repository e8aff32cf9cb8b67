#include <algorithm>

#include "checks.h"
#include "session/counter_plan.h"
#include "session/log_pattern.h"
#include "session/probe_words.h"

namespace fathom {
namespace {

std::vector<double> values_of(std::string_view pattern, std::string_view line) {
  const Result<LogPattern> parsed = LogPattern::parse(pattern);
  EXPECT_TRUE(parsed.ok()) << pattern;
  std::vector<double> values;
  if (!parsed.ok()) return values;
  for (const LogPattern::Found& found : parsed.value().match(line)) values.push_back(found.value);
  return values;
}

TEST(LogPattern, TakesNumbersAfterWords) {
  EXPECT_EQ(values_of("hit rate: {float}", "[12:00] cache hit rate: 0.75, 3 evicted"),
            (std::vector<double>{0.75}));
  EXPECT_EQ(values_of("hit rate: {float}", "hit   rate:  -1e-3"), (std::vector<double>{-1e-3}));
  EXPECT_EQ(values_of("step {int} loss {float}", "step 12 loss 3.5"),
            (std::vector<double>{12, 3.5}));
  EXPECT_EQ(values_of("batch={}", "batch=64"), (std::vector<double>{64}));
}

TEST(LogPattern, LinesThatDoNotFitGiveNothing) {
  EXPECT_TRUE(values_of("hit rate: {float}", "hit rate: n/a").empty());
  EXPECT_TRUE(values_of("hit rate: {float}", "hit-rate: 0.5").empty());
  EXPECT_TRUE(values_of("step {int} loss {float}", "step 12").empty());
  EXPECT_TRUE(values_of("took {int}", "took 1.5 s").empty());
  EXPECT_EQ(values_of("took {int}", "It took 15. Then"), values_of("took {int}", "took 15"));
  EXPECT_FALSE(values_of("took {int}", "took 15.").empty());
  EXPECT_TRUE(values_of("loss {float}", "loss nan").empty());
  EXPECT_TRUE(values_of("loss {float}", "").empty());
}

// The first place that fits is taken, also after one that nearly does.
TEST(LogPattern, GoesOnAfterANearMiss) {
  EXPECT_EQ(values_of("rate {float} ok", "rate 1 bad, rate 2 ok"), (std::vector<double>{2}));
}

TEST(LogPattern, CountersAreNamedByTheWordsBefore) {
  const Result<LogPattern> pattern = LogPattern::parse("hit rate: {float}, queue = {int}");
  ASSERT_TRUE(pattern.ok());
  EXPECT_EQ(pattern.value().names(), (std::vector<std::string>{"hit rate", "queue"}));
}

TEST(LogPattern, MistakesAreNamed) {
  for (const char* text : {"no number", "{float", "{string}", "{int}{int}"})
    EXPECT_FALSE(LogPattern::parse(text).ok()) << text;
}

TEST(Probe, GrammarIsPathsAndLengthsOnly) {
  for (const char* probe :
       {"module:function", "a.b.c:Class.method", "m:f(x)", "m:f(batch.size, len(result))"}) {
    EXPECT_FALSE(probe_mistake(probe).has_value()) << probe;
  }
  for (const char* probe : {"", "function", ":f", "m:", "m:f(", "m:f()", "m:f(x", "m:f(x+1)",
                            "m:f(__import__('os'))", "m:f(x[0])", "m:f(len(x)", "m:f(len(len(x)))",
                            "m:f(a..b)", "m:f(1)", "m f:g", "m:f\nm:g"}) {
    EXPECT_TRUE(probe_mistake(probe).has_value()) << probe;
  }
}

TEST(Probe, CFunctionsAreNamedByLibraryAndSymbol) {
  for (const char* probe :
       {"c:f", "libz.so:deflate", "libz.so.1:ns::A::operator()", "./a:main_loop", "c:ns::f<int>",
        "c:f(arg1)", "c:ns::f(arg6, int(arg2), int(result))", "c:operator()(arg1)",
        "c:(anonymous namespace)::f"}) {
    EXPECT_FALSE(probe_mistake(probe).has_value()) << probe;
  }
  for (const char* probe :
       {"c:", "libz.so:", "c:f(int)", "c:f(arg7)", "c:f(arg1,)", "c:f()", "c:setjmp(arg1)",
        "c:setjmp", "c:dlopen", "c:f\nc:g", "c:_Unwind_RaiseException"}) {
    EXPECT_TRUE(probe_mistake(probe).has_value()) << probe;
  }
}

TEST(CounterSets, EachHoldsTheBasicOnes) {
  const std::vector<std::string> names = counter_set_names();
  EXPECT_EQ(names, (std::vector<std::string>{"basic", "memory", "stalls", "roofline", "full"}));
  const auto basic = counter_metrics("basic"), full = counter_metrics("full");
  ASSERT_TRUE(basic && full);
  for (const std::string& set : names) {
    const auto metrics = counter_metrics(set);
    ASSERT_TRUE(metrics);
    for (const std::string& metric : *basic)
      EXPECT_NE(std::ranges::find(*metrics, metric), metrics->end()) << set << " " << metric;
    EXPECT_LE(metrics->size(), full->size());
  }
  EXPECT_FALSE(counter_metrics("bogus").has_value());
}

}  // namespace
}  // namespace fathom
