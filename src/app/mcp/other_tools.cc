// Tools beyond one trace: SQL, comparisons, code, the machine.
#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <csignal>

#include "app/code/answer_text.h"
#include "app/code/duck_options.h"
#include "app/mcp/tools.h"
#include "app/this_machine.h"
#include "doctor/examine.h"
#include "report/doctor_text.h"
#include "session/code/scan.h"
#include "session/code/together.h"
#include "session/compare.h"
#include "session/query/databases.h"

namespace fathom {
namespace {

constexpr TerminalStyle kNoColor = {false, false, 120};
constexpr int64_t kUsualRows = 50, kMostRows = 1000;

std::string schema_answer(const std::string& asked) {
  const SchemaTable* only = find_table(asked);
  if (only != nullptr) return schema_text(only);
  std::string text;
  for (const SchemaTable& table : schema()) text += fmt::format("{}: {}\n", table.name, table.text);
  text += "\nShipped questions:\n";
  for (const NamedQuery& query : named_queries())
    text += fmt::format("{}: {}\n", query.name, query.text);
  return text + "Next: query with schema TABLE for its columns, or with sql.\n";
}

// Asks in a process of its own: nothing else can stop a function of DuckDB that does not come back.
Result<std::string> ask_apart(const DuckLimits& limits,
                              const std::function<Result<std::string>()>& ask) {
  constexpr std::chrono::hours kLongest{24};  // the limit of time is the database's own
  const ChildAnswer answer = ask_child(
      [&](int out) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const Result<std::string> got = ask();
        write_answer(out, got.ok() ? "+" + within_limit(got.value())
                                   : "-" + within_limit(got.error().message));
      },
      kLongest);
  if (answer.end == ChildAnswer::End::kDone && answer.text.starts_with('+'))
    return answer.text.substr(1);
  if (answer.end == ChildAnswer::End::kDone && answer.text.starts_with('-'))
    return Error{answer.text.substr(1)};
  if (answer.end == ChildAnswer::End::kCrashed)
    return Error{fmt::format("the query was ended by signal {}; select less", answer.code)};
  return Error{
      fmt::format("the query did not stop at its limit of {:g} s, and was ended; select "
                  "less",
                  limits.seconds)};
}

}  // namespace

Result<std::string> query_tool(TraceShelf& shelf, const ToolArguments& a) {
  if (!a.text("schema").empty()) return schema_answer(a.text("schema"));
  if (a.text("sql").empty()) return Error{"argument 'sql' is missing, or 'schema' in its place"};
  const std::string path = a.text("trace");
  const DuckLibrary& library = *TRY(load_duckdb(duck_places()));
  const DuckLimits& limits = shelf.limits();
  const std::string sql = TRY(question_of(a.text("sql"), path));
  const auto answer = [&](DuckDatabase& database) -> Result<std::string> {
    const int64_t rows = std::clamp<int64_t>(a.number("rows").value_or(kUsualRows), 1, kMostRows);
    const Table table = TRY(database.ask(sql));
    std::string text = answer_text(table, kNoColor, static_cast<size_t>(rows),
                                   "select fewer columns or raise rows");
    return text +
           "Next: query again to narrow it down; query with schema 'all' lists the tables.\n";
  };
  if (is_export(path)) {
    TRY(shelf.check_path(path));
    return ask_apart(limits, [&]() -> Result<std::string> {
      DuckDatabase database = TRY(export_database(library, limits, path));
      return answer(database);
    });
  }
  const ShelvedTrace& shelved = *TRY(shelf.get(path));
  return ask_apart(limits, [&]() -> Result<std::string> {
    DuckDatabase database = TRY(trace_database(library, limits, *shelved.tables));
    return answer(database);
  });
}

Result<std::string> diff_tool(TraceShelf& shelf, const ToolArguments& a) {
  // The first may be closed while the second is opened; compared are the files.
  TRY(shelf.check_path(a.text("a")));
  TRY(shelf.check_path(a.text("b")));
  const Trace before = TRY(open_trace(a.text("a"))), after = TRY(open_trace(a.text("b")));
  return diff_text(TRY(compare(before, after, {}, {})), kNoColor) +
         "Next: findings of the slower trace, or query with sql 'slowest-kernels' of both.\n";
}

Result<std::string> ranks_tool(TraceShelf& shelf, const ToolArguments& a) {
  std::vector<std::string> given = a.list("traces");
  for (const std::string& path : given) TRY(shelf.check_path(path));
  const std::vector<std::string> traces = TRY(expand_traces(given));
  for (const std::string& path : traces) TRY(shelf.check_path(path));
  const Together together = TRY(analyze_together(traces, {}));
  return ranks_text(together.view(), kNoColor, {}) +
         "Next: findings of the late rank's trace, or query it with sql 'idle-blame'.\n";
}

Result<std::string> scan_tool(TraceShelf& shelf, const ToolArguments& a) {
  TRY(shelf.check_path(a.text("repo")));
  const std::string part = a.text("part");
  if (!part.empty() && std::ranges::find(kScanParts, part) == std::end(kScanParts))
    return Error{fmt::format("there is no part '{}'; see the tool's description", part)};
  ScanRequest request;
  request.repository = a.text("repo");
  const ScanResult result = TRY(scan(request));
  if (!part.empty()) return scan_lines(result.report.facts, {part});
  return scan_text(result.report, kNoColor, result.written) +
         "Next: scan with part 'kernels' for all of them, or open a trace with this repo.\n";
}

Result<std::string> doctor_tool(TraceShelf&, const ToolArguments&) {
  return doctor_text(examine(this_machine()), false) +
         "Next: fathom record -- COMMAND records a program here, if the machine supports it.\n";
}

}  // namespace fathom
