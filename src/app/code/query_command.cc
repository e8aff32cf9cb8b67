#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "app/code/answer_text.h"
#include "app/code/code_commands.h"
#include "app/code/duck_options.h"
#include "app/code/model_options.h"
#include "app/commands.h"
#include "app/option_rules.h"
#include "app/output_options.h"
#include "base/closest_names.h"
#include "base/staging.h"
#include "report/csv.h"
#include "session/query/databases.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kQueryExamples = R"(Examples:
  fathom query trace.json.gz "SELECT name, sum(duration_ns)/1e6 AS ms FROM kernels GROUP BY name ORDER BY ms DESC"
  fathom query trace.json.gz slowest-kernels           a named query
  fathom query --list                                  the named queries, and what they show
  fathom query --schema kernels                        columns of a table; without a name, all tables
  fathom query tables "SELECT * FROM gaps" --format csv      of what fathom export wrote
  fathom query run "SELECT part, sum(duration_ns) FROM gaps GROUP BY part"   of several traces
  fathom query trace.json.gz slow-ops --format json
  fathom query trace.json.gz "SELECT * FROM ops" --format parquet --out ops.parquet

SQL is DuckDB's; its library is loaded for the query (tools/setup --query fetches it). Only SELECT is
allowed: no table can be changed, and no other file can be read or written. Times are in nanoseconds
on the trace's clock; a column's unit is in its name.

Exit codes:
  0  answered
  1  the trace or the query could not be read, or a limit was reached
  2  usage error)";

struct QueryArguments {
  std::string input, sql, format = "table", out;
  std::optional<std::string> schema_table;  // empty: all tables
  bool list = false, json = false, force = false;
  std::string limit = "100";
  ModelArguments model;
  LimitArguments limits;
};

std::string query_list() {
  std::string out;
  for (const NamedQuery& query : named_queries())
    out += fmt::format("{:<18} {}\n", query.name, query.text);
  return out;
}

std::vector<std::string> table_names() {
  std::vector<std::string> names;
  for (const SchemaTable& table : schema()) names.emplace_back(table.name);
  return names;
}

Status print_schema(const QueryArguments& a) {
  const SchemaTable* only = a.schema_table->empty() ? nullptr : find_table(*a.schema_table);
  if (!a.schema_table->empty() && only == nullptr)
    return Error{fmt::format("there is no table '{}'; fathom query --schema lists them{}",
                             *a.schema_table, did_you_mean(*a.schema_table, table_names()))};
  return print_output(a.format == "json" ? schema_json(only) : schema_text(only));
}

// The file of an answer until it is whole.
struct AnswerFile {
  fs::path target;
  StagingDirectory staging;
  fs::path staged() const { return staging.content() / "answer.parquet"; }
};

Result<AnswerFile> open_answer(const QueryArguments& a) {
  const fs::path target(a.out);
  TRY(check_file_place(target));
  std::error_code error;
  if (fs::exists(target, error) && !a.force)
    return Error{fmt::format("{} is there already; --force replaces it", a.out)};
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  fs::path whole = fs::canonical(folder, error);
  if (error) return Error{fmt::format("{}: {}", folder.string(), error.message())};
  return AnswerFile{target, TRY(StagingDirectory::create(whole, folder))};
}

Status answer_query(const QueryArguments& a, const Terminal& terminal) {
  const std::string sql = TRY(question_of(a.sql, a.input));
  const DuckLibrary& library = *TRY(load_duckdb(duck_places()));
  const DuckLimits limits = limits_of(a.limits, a.model.reading.threads);
  std::optional<AnswerFile> file;
  if (a.format == "parquet") file.emplace(TRY(open_answer(a)));
  const std::string writable = file ? file->staged().string() : std::string();
  std::unique_ptr<TraceModel> model;
  std::optional<TraceTables> tables;
  std::vector<std::string> notes;
  if (!is_export(a.input)) {
    model = TRY(open_model(a.input, a.model, terminal));
    tables.emplace(*model);
  }
  DuckDatabase database = tables ? TRY(trace_database(library, limits, *tables, writable))
                                 : TRY(export_database(library, limits, a.input, writable, &notes));
  tell(notes, a.model.reading.quiet);
  if (file) {
    TRY(database.ask_into(sql, writable));
    if (std::rename(writable.c_str(), file->target.c_str()) != 0)
      return Error{fmt::format("cannot write {}: {}", a.out, std::strerror(errno))};
    return Nothing{};
  }
  std::vector<size_t> truths;
  const Table answer = TRY(database.ask(sql, &truths));
  if (a.format == "csv") return print_output(to_csv(answer));
  if (a.format == "json") return print_output(answer_json(answer, truths));
  return print_output(answer_text(answer, {terminal.color, false, terminal.width},
                                  static_cast<size_t>(std::stoull(a.limit)),
                                  "--limit 0 prints all"));
}

ExitCode run_query(QueryArguments& a, const Terminal& terminal) {
  if (a.json) a.format = "json";
  Status done = Nothing{};
  if (a.list) {
    done = print_output(query_list());
  } else if (a.schema_table) {
    done = print_schema(a);
  } else if (a.input.empty() || a.sql.empty()) {
    complain("expected TRACE or DIR and a query; fathom query --list and --schema need neither");
    std::fputs(kTryHelp, stderr);
    return ExitCode::kUsage;
  } else if ((a.format == "parquet") != !a.out.empty()) {
    complain("--format parquet and --out FILE go together; other formats are printed");
    return ExitCode::kUsage;
  } else {
    done = answer_query(a, terminal);
  }
  if (done.ok()) return ExitCode::kOk;
  complain(done.error().message);
  return ExitCode::kFailed;
}

}  // namespace

void add_query_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command = app.add_subcommand(kQueryCommand.name, kQueryCommand.text);
  command->footer(kQueryExamples);
  auto a = std::make_shared<QueryArguments>();
  command->add_option(
      "TRACE", a->input,
      "A trace or capture (see fathom analyze --help), or a directory of fathom export");
  command->add_option("QUERY", a->sql, "An SQL SELECT, or the name of a query (--list)");
  command->add_option("--format", a->format, "table (default), csv, json or parquet")
      ->check(one_of({"table", "csv", "json", "parquet"}))
      ->option_text("FORMAT");
  command->add_flag("--json", a->json, "The same as --format json");
  command->add_option("--out", a->out, "File for --format parquet")->option_text("FILE");
  command->add_flag("--force", a->force, "Replace --out");
  command->add_flag("--list", a->list, "List the named queries, and exit");
  command
      ->add_option("--schema", a->schema_table, "Print the columns of a table, or of all, and exit")
      ->expected(0, 1)
      ->option_text("[TABLE]");
  command->add_option("--limit", a->limit, "Rows that a table shows, 0 for all (default: 100)")
      ->check(whole_number({0, 1'000'000'000, 20}))
      ->option_text("N");
  add_limit_options(*command, a->limits);
  add_model_options(*command, a->model);
  command->callback([a, &terminal, &code] { code = run_query(*a, terminal); });
}

}  // namespace fathom
