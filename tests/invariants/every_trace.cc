#include "invariants/every_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/check.h"
#include "report/csv.h"
#include "test_files.h"

namespace fathom::test {
namespace {

constexpr const char* kNoSharedData = "shared";

}  // namespace

std::vector<std::string> traces_for_laws() {
  std::vector<std::string> paths;
  for (const auto& path : example_traces()) paths.push_back(path.string());
  const size_t examples = paths.size();
  for (const auto& path : shared_traces()) paths.push_back(path.string());
  if (paths.size() == examples) paths.emplace_back(kNoSharedData);
  return paths;
}

std::string name_of_trace(const ::testing::TestParamInfo<std::string>& param) {
  const std::filesystem::path path(param.param);
  // Two folders may hold a trace of the same name.
  std::string name = path.parent_path().filename().string() + "_" + path.filename().string();
  name = name.substr(0, name.find(".json"));
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

void LawOfTraces::SetUp() {
  if (path() == kNoSharedData) GTEST_SKIP() << "skipped: no shared data";
}

const Trace& LawOfTraces::trace() const {
  static std::map<std::string, std::unique_ptr<Trace>> opened;
  std::unique_ptr<Trace>& trace = opened[path()];
  if (trace == nullptr) trace = std::make_unique<Trace>(open_trace(path()).take());
  return *trace;
}

const std::string& LawOfTraces::text() const {
  static std::map<std::string, std::string> texts;
  std::string& text = texts[path()];
  if (text.empty()) {
    CommandResult unpacked = run_command(fmt::format("gzip -dc '{}'", path()), "/");
    EXPECT_EQ(unpacked.exit_code, 0) << unpacked.errors;
    text = std::move(unpacked.output);
  }
  return text;
}

Trace read_with(const std::string& path, const kineto::ReadOptions& options) {
  EventStore store = kineto::read_trace(path, options).take();
  CallTree tree = build_call_tree(store);
  return {path, std::move(store), std::move(tree)};
}

ReportFiles report_files(const Trace& trace, const Scope& scope) {
  Analysis analysis = analyze(trace, scope).take();
  analysis.summary.trace.clear();
  ReportFiles files;
  for (const Table& sheet : analysis.sheets) files[sheet.name() + ".csv"] = to_csv(sheet);
  files["summary.json"] = summary_json(analysis.summary);
  return files;
}

std::string differing_files(const ReportFiles& a, const ReportFiles& b) {
  std::string names;
  for (const auto& [name, content] : a) {
    const auto other = b.find(name);
    if (other == b.end() || other->second != content) names += name + " ";
  }
  for (const auto& [name, content] : b) {
    if (!a.contains(name)) names += name + " ";
  }
  return names;
}

const Column& column(const Table& table, std::string_view name) {
  const auto found = std::ranges::find(table.columns(), name, &Column::name);
  CHECK(found != table.columns().end());
  return *found;
}

Nanos exact_time(const Column& column, size_t row) {
  CHECK(column.unit() == Unit::kMicros || column.unit() == Unit::kMillis);
  std::string cell = column.cell(row);
  const size_t decimals = column.unit() == Unit::kMicros ? 3 : 6;
  size_t point = cell.find('.');
  if (point == std::string::npos) {
    point = cell.size();
    cell += '.';
  }
  CHECK(cell.size() - point - 1 <= decimals);
  cell.append(decimals - (cell.size() - point - 1), '0');
  cell.erase(point, 1);
  return Nanos{std::stoll(cell)};
}

Nanos exact_sum(const Table& table, std::string_view name) {
  Nanos sum;
  for (size_t row = 0; row < table.rows(); ++row) sum += exact_time(column(table, name), row);
  return sum;
}

double real_sum(const Table& table, std::string_view name) {
  double sum = 0;
  for (size_t row = 0; row < table.rows(); ++row) sum += column(table, name).number(row);
  return sum;
}

TraceParts take_apart(std::string_view json) {
  const size_t key = json.find("\"traceEvents\"");
  CHECK(key != std::string_view::npos);
  const size_t list = json.find('[', key);
  TraceParts parts;
  parts.head = json.substr(0, list + 1);
  bool in_string = false;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = list + 1; i < json.size(); ++i) {
    const char c = json[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (depth++ == 0) begin = i;
    } else if (c == '}' || c == ']') {
      if (depth == 0) {
        parts.tail = json.substr(i);
        break;
      }
      if (--depth == 0) parts.events.push_back(json.substr(begin, i + 1 - begin));
    }
  }
  return parts;
}

}  // namespace fathom::test
