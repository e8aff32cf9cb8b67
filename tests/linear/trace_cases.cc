// Traces that the JSON reader must take in one pass.
#include <fmt/format.h>

#include "linear_cases.h"
#include "test_files.h"

namespace fathom::test {
namespace {

constexpr std::string_view kEvent =
    R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1})";

// Hostile text between two whole events.
struct HostileText {
  const char* name;
  const char *before, *repeated, *after;
  size_t bytes = 60'000;  // of the repeated text
};

constexpr HostileText kHostile[] = {
    {"EventsThatOnlyBegin", "", R"({"ph":"X",)", ""},
    {"BracesInANameWithAMissingComma", R"({"ph":"X","cat":"c" "name":")", "{{{{{{{{",
     R"(","ts":1})"},
    {"EventsInListsThatNeverEnd", "", R"({"ph":[)", ""},
    {"ObjectsInListsThatNeverEnd", "", R"({"name":[)", ""},
    {"EventsBrokenOffInsideAList", "",
     R"({"ph":"X","name":"t","args":{"d":[[1,2],{"ph":"X","name":"g","ts":1,"dur":1},)", ""},
    {"EventsBrokenOffInsideAString", "", R"({"ph":"X","name":"t,{"ph":"X","name":"g","ts":1},)",
     ""},
    {"EventsBrokenOffAtALineBreak", "", "{\"ph\":\"X\",\"name\":\"t\n,", ""},
    {"Quotes", "", "\"\"\"\"\"\"\"", ""},
    {"QuotesAndCommasInAName", R"({"ph":"X","name":")", R"(",)", "}"},
    {"KeysInANameWithAMissingComma", R"({"ph":"X" "name":")", R"(","a)", R"("})"},
    {"EscapedQuotesWithAMissingComma", R"({"ph":"X" "name":")", R"(\")", R"("})"},
    {"ClosingBraces", "", "}}}}", ""},
    {"ClosingBrackets", "", "] ]", ""},
    {"EndsOfListsAndKeys", "", R"(],")", ""},
    {"BracketsThatDoNotFit", "", "{[}]", ""},
    {"Commas", "", ",,,,", ""},
    {"Numbers", "1", ",1", ""},
    {"NumbersOfManyDigits", R"({"ph":"X","ts":)", "99999999", "}"},
    {"EqualKeysWithoutCommas", R"({"ph":"X","ts":1 )", R"("name":"x" )", R"("dur":1})"},
    {"ObjectsInArgumentsThatLookLikeEvents", R"({"ph":"X","ts":1,"args":{"x":[1)", R"(,{"name":1})",
     R"(]} "y":1})", 400'000},
    {"EventsWithoutTheirFirstBrace", "", R"("ph":"X","name":"a","ts":1,"dur":1},)", ""},
    {"EventsWithoutTheirLastBrace", "", R"({"ph":"X","name":"a","ts":1,"dur":1,)", ""},
    {"ListsGivenAgain", "1", R"(],"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1})", ""},
    {"EndsOfTheTraceBeforeEvents", "1", R"(]}{"ph":"X","name":"a","ts":1,"dur":1})", ""},
    {"AnotherTraceBehind", "1", R"(]}{"traceEvents":[{"ph":"X","name":"a","ts":1,"dur":1})", ""},
};

}  // namespace

std::vector<LinearCase> trace_cases() {
  const auto trace = [](auto text_of) {
    return [text_of](const std::filesystem::path& directory, size_t n) {
      write_file(directory / "t.json", text_of(n));
    };
  };
  std::vector<LinearCase> cases = {
      {"PlainEvents", trace([](size_t n) {
         std::string events = R"({"traceEvents":[)";
         for (size_t i = 0; i < n; ++i) {
           events += fmt::format(
               R"({{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":{},"dur":1}},)",
               2 * i);
         }
         events.back() = ']';
         return events + "}";
       }),
       "analyze t.json --out out", 2000},
      {"LinesBeforeTheTrace", trace([](size_t n) {
         return fmt::format("x{}{{\"traceEvents\":[{}]}}", repeated("\n", n), kEvent);
       }),
       "analyze t.json --out out", 40'000},
      {"KeysOfTheListInAString",
       trace([](size_t n) { return R"({"a":")" + repeated(R"("traceEvents":[ )", n); }),
       "analyze t.json --out out", 10'000, 1},
      {"Backslashes",
       trace([](size_t n) { return R"({"traceEvents":[{"ph":"X","name":")" + repeated("\\", n); }),
       "analyze t.json --out out", 120'000, 1},
      {"OneNameOfManyOps", trace([](size_t n) {
         const std::string name = "triton_poi_fused" + repeated("_add_mul_sub_exp", n) + "_0";
         return fmt::format(
             R"({{"traceEvents":[{{"ph":"X","cat":"cpu_op","name":"{0}","pid":1,"tid":1,"ts":10,"dur":20}},)"
             R"({{"ph":"X","cat":"cuda_runtime","name":"cuLaunchKernel","pid":1,"tid":1,"ts":12,"dur":5,)"
             R"("args":{{"correlation":7}}}},{{"ph":"X","cat":"kernel","name":"{0}","pid":0,"tid":7,)"
             R"("ts":40,"dur":3000,"args":{{"device":0,"stream":7,"correlation":7}}}}]}})",
             name);
       }),
       "analyze t.json --out out", 3'000},
      {"ADeepEnvelope", trace([](size_t n) {
         return fmt::format(R"({{"a":{}{},"traceEvents":[{}]}})", repeated("[", n),
                            repeated("]", n), kEvent);
       }),
       "analyze t.json --out out", 40'000},
      {"AnEnvelopeThatIsNeverClosed", trace([](size_t n) {
         return fmt::format(R"({{"a":{{{}"traceEvents":[{}]}})", repeated(R"("b":[{"id":1}],)", n),
                            kEvent);
       }),
       "analyze t.json --out out", 5'000},
  };
  for (const HostileText& hostile : kHostile) {
    const size_t n = hostile.bytes / std::string_view(hostile.repeated).size();
    cases.push_back({hostile.name, trace([hostile](size_t times) {
                       return fmt::format(R"({{"traceEvents":[{0},{1}{2}{3},{0}]}})", kEvent,
                                          hostile.before, repeated(hostile.repeated, times),
                                          hostile.after);
                     }),
                     "analyze t.json --out out", n});
  }
  return cases;
}

}  // namespace fathom::test
