// Traces that the JSON reader must take in one pass.
#include <fmt/format.h>

#include "linear_cases.h"
#include "test_files.h"

namespace fathom::test {

std::vector<LinearCase> trace_cases() {
  const auto trace = [](auto text_of) {
    return [text_of](const std::filesystem::path& directory, size_t n) {
      write_file(directory / "t.json", text_of(n));
    };
  };
  return {
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
  };
}

}  // namespace fathom::test
