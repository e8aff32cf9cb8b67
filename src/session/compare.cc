#include "session/compare.h"

#include <fmt/format.h>

#include "base/output_directory.h"
#include "report/csv.h"
#include "session/analyze.h"

namespace fathom {

namespace fs = std::filesystem;

Result<DiffReport> compare(const Trace& a, const Trace& b, const Scope& scope) {
  const SheetInput input_a(a.store, a.tree, scope), input_b(b.store, b.tree, scope);
  DiffReport report;
  report.a = TRY(summarize(a, input_a));
  report.b = TRY(summarize(b, input_b));
  report.diff = diff_traces(input_a, input_b);
  std::error_code ignored;
  report.same_file = fs::equivalent(a.path, b.path, ignored);
  return report;
}

Status write_diff(DiffReport& report, const fs::path& directory) {
  OutputDirectory out = TRY(OutputDirectory::create(directory));
  report.report = (directory.has_filename() ? directory : directory.parent_path()).string();
  report.files = {"diff.md", "diff.json"};
  for (const Table& table : diff_tables(report.diff)) {
    report.files.push_back(fmt::format("diff_csvs/{}.csv", table.name()));
    TRY(out.write_file(report.files.back(), to_csv(table)));
  }
  TRY(out.write_file("diff.md", diff_markdown(report)));
  TRY(out.write_file("diff.json", diff_json(report)));
  return out.commit();
}

}  // namespace fathom
