#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <set>

#include "app/code/code_commands.h"
#include "app/code/duck_options.h"
#include "app/code/model_options.h"
#include "app/commands.h"
#include "app/option_rules.h"
#include "app/output_options.h"
#include "base/count_text.h"
#include "base/screen_text.h"
#include "session/analyze.h"
#include "session/query/export.h"
#include "session/query/schema.h"
#include "session/report_place.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExportExamples = R"(Examples:
  fathom export trace.json.gz --to tables              Parquet files in tables/
  fathom export rank*.json.gz --to run                 run/rank0/, run/rank1/ for fathom query run
  fathom export trace.json.gz --to tables --format csv without DuckDB
  fathom export trace.json.gz --to - --table ops       one table as CSV on standard output
  fathom export trace.json.gz --to t --counters counters.csv --repo ~/engine

Tables and columns: docs/SCHEMA.md, or fathom query --schema. Parquet is written by DuckDB, whose
library tools/setup --query fetches. The files appear all at once, or none of them. An earlier export
of the same trace and scope is replaced; files that are not the export's stay.

Exit codes:
  0  every trace was exported
  1  a trace could not be read or its tables not written; the others are exported
  2  usage error)";

struct ExportArguments {
  std::vector<std::string> traces, tables;
  std::string to, format = "parquet";
  bool force = false;
  ModelArguments model;
  LimitArguments limits;
};

// A folder for each of several traces, named after it; two of one name are told apart by a number.
std::vector<fs::path> export_directories(const ExportArguments& a) {
  if (a.traces.size() == 1) return {a.to};
  std::vector<fs::path> directories;
  std::set<std::string> used;
  for (const std::string& trace : a.traces) {
    const std::string wanted = default_report_directory(trace).stem().string();
    std::string name = wanted;
    for (int n = 2; !used.insert(name).second; ++n) name = fmt::format("{}-{}", wanted, n);
    directories.push_back(fs::path(a.to) / name);
  }
  return directories;
}

Status print_one_table(const ExportArguments& a, const Terminal& terminal) {
  const std::unique_ptr<TraceModel> model = TRY(open_model(a.traces[0], a.model, terminal));
  TraceTables tables(*model);
  return write_csv(tables.make(a.tables[0]), print_output);
}

Status export_one(const ExportArguments& a, const std::string& trace, const fs::path& directory,
                  const DuckLibrary* library, const Terminal& terminal) {
  std::string scope = scope_text(a.model.scope, a.model.reading.max_size);
  const OutputPlace place{directory, {"export", subject_of(trace, directory), scope}, a.force};
  TRY(OutputDirectory::check(place));
  const std::unique_ptr<TraceModel> model = TRY(open_model(trace, a.model, terminal));
  TraceTables tables(*model);
  ExportRequest request{place, a.tables, library, limits_of(a.limits, a.model.reading.threads)};
  const ExportResult result = TRY(export_tables(tables, request));
  tell(result.notes, a.model.reading.quiet);
  if (a.model.reading.quiet) return Nothing{};
  std::string text;
  for (const ExportedTable& table : result.tables)
    text +=
        fmt::format("{:<24} {:>12} {:<4} {:>14} bytes\n", table.file, with_thousands(table.rows),
                    noun(static_cast<uint64_t>(table.rows), "row"), with_thousands(table.bytes));
  return print_output(text + fmt::format("Tables of {} in {}/\n", screen_safe(trace),
                                         screen_safe(directory.string())));
}

ExitCode run_export(const ExportArguments& a, const Terminal& terminal) {
  if (a.to == "-") {
    if (a.traces.size() != 1 || a.tables.size() != 1) {
      complain("--to - prints one table of one trace: name it with --table");
      return ExitCode::kUsage;
    }
    const Status printed = print_one_table(a, terminal);
    if (!printed.ok()) complain(printed.error().message);
    return printed.ok() ? ExitCode::kOk : ExitCode::kFailed;
  }
  const DuckLibrary* library = nullptr;
  if (a.format == "parquet") {
    const Result<const DuckLibrary*> loaded = load_duckdb(duck_places());
    if (!loaded.ok()) {
      complain(loaded.error().message + "; --format csv needs none");
      return ExitCode::kFailed;
    }
    library = loaded.value();
  }
  bool failed = false;
  const std::vector<fs::path> directories = export_directories(a);
  for (size_t i = 0; i < a.traces.size(); ++i) {
    const Status done = export_one(a, a.traces[i], directories[i], library, terminal);
    if (done.ok()) continue;
    complain(done.error().message);
    failed = true;
  }
  return failed ? ExitCode::kFailed : ExitCode::kOk;
}

}  // namespace

void add_export_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command = app.add_subcommand(kExportCommand.name, kExportCommand.text);
  command->footer(kExportExamples);
  auto a = std::make_shared<ExportArguments>();
  command->add_option("TRACE", a->traces, "Traces and captures (see fathom analyze --help)")
      ->required();
  command
      ->add_option("--to", a->to,
                   "Directory for the tables; of several traces, a folder in it for each; - for "
                   "one table on standard output")
      ->required()
      ->option_text("DIR");
  command->add_option("--format", a->format, "parquet (default) or csv")
      ->check(one_of({"parquet", "csv"}))
      ->option_text("FORMAT");
  std::vector<std::string> names;
  for (const SchemaTable& table : schema()) names.emplace_back(table.name);
  command->add_option("--table", a->tables, "Write only these tables (default: all)")
      ->check(one_of(names))
      ->option_text("NAME...");
  command->add_flag("--force", a->force, "Write into any directory");
  add_model_options(*command, a->model);
  add_limit_options(*command, a->limits);
  command->callback([a, &terminal, &code] { code = run_export(*a, terminal); });
}

}  // namespace fathom
