#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/tsv.h"
#include "checks.h"
#include "scan/cpp/code_patterns.h"
#include "scan/cpp/device_patterns.h"
#include "test_files.h"

namespace fathom::cpp {
namespace {

struct PatternCase {
  std::string id, scope, detail, code;
  bool shows = false;
};

std::vector<PatternCase> read_cases() {
  static const std::string text =
      test::read_file(test::source_dir() / "tests/unit/scan_patterns/cases.tsv");
  std::vector<PatternCase> cases;
  for (const auto& row : read_tsv(text, 5)) {
    PatternCase item{std::string(row[0]), std::string(row[1]), std::string(row[3]),
                     std::string(row[4]), row[2] == "yes"};
    for (size_t at = item.code.find("<br>"); at != std::string::npos; at = item.code.find("<br>")) {
      item.code.replace(at, 4, "\n");
    }
    cases.push_back(std::move(item));
  }
  return cases;
}

bool is_python(const std::string& scope) {
  return scope == "triton" || scope == "cute" || scope == "python";
}

PatternScope scope_named(const std::string& scope) {
  if (scope == "host") return PatternScope::kHost;
  if (scope == "triton") return PatternScope::kTriton;
  if (scope == "cute") return PatternScope::kCute;
  if (scope == "python") return PatternScope::kPython;
  return PatternScope::kDevice;
}

std::vector<PatternHit> hits_in(const std::string& code, const std::string& scope) {
  if (scope == "attribute") {
    return find_attribute_patterns(std::vector{code}, 1, PatternScope::kDevice);
  }
  if (is_python(scope)) return find_python_patterns(code, 1, scope_named(scope));
  // "(parameters) { body }" is a whole function.
  const size_t body = code.starts_with('(') ? code.find(") {") : std::string::npos;
  const bool whole = body != std::string::npos;
  const std::string parameters = whole ? code.substr(1, body - 1) : "";
  const std::string statements = whole ? code.substr(body + 2) : code;
  const TokenList source = lex(statements);
  const Brackets brackets(source);
  const CodeTree tree = read_statements({source, brackets}, 0, source.size());
  return find_patterns(source, 0, source.size(), scope_named(scope),
                       {.parameters = parameters, .tree = &tree});
}

std::vector<PatternHit> hits_of(const std::string& id, const std::string& code,
                                const std::string& scope) {
  std::vector<PatternHit> hits = hits_in(code, scope);
  std::erase_if(hits, [&](const PatternHit& hit) { return hit.id != id; });
  return hits;
}

std::string with_each_line_after(std::string_view prefix, const std::string& code) {
  std::string out;
  for (std::string_view line : split(code, '\n')) {
    out += std::string(prefix) + std::string(line) + "\n";
  }
  return out;
}

TEST(ScanPatterns, EachCaseShowsWhatItSays) {
  for (const PatternCase& item : read_cases()) {
    SCOPED_TRACE(item.id + " in " + item.scope + ": " + item.code);
    const auto hits = hits_of(item.id, item.code, item.scope);
    if (!item.shows) {
      EXPECT_TRUE(hits.empty()) << hits[0].detail;
      continue;
    }
    const bool found = std::any_of(
        hits.begin(), hits.end(), [&](const PatternHit& hit) { return hit.detail == item.detail; });
    EXPECT_TRUE(found) << (hits.empty() ? "nothing found" : "found: " + hits[0].detail);
  }
}

TEST(ScanPatterns, NothingIsFoundInCommentsOrPlainStrings) {
  for (const PatternCase& item : read_cases()) {
    if (item.scope == "attribute") continue;
    SCOPED_TRACE(item.id + " in " + item.scope + ": " + item.code);
    const bool python = is_python(item.scope);
    EXPECT_TRUE(
        hits_in(with_each_line_after(python ? "# " : "// ", item.code), item.scope).empty());
    const std::string quoted =
        python ? "\"\"\"" + item.code + "\"\"\"" : "auto s = R\"-(" + item.code + ")-\";";
    EXPECT_TRUE(hits_in(quoted, item.scope).empty());
  }
}

TEST(ScanPatterns, DeviceCodeIsNotFoundOnTheHost) {
  for (const PatternCase& item : read_cases()) {
    if (item.scope != "device" || item.id == "nvshmem") continue;
    EXPECT_TRUE(hits_of(item.id, item.code, "host").empty()) << item.id << ": " << item.code;
  }
}

TEST(ScanPatterns, EveryRowHasACaseAndEveryIdANearTwinInEachScope) {
  const PatternTable& table = PatternTable::built_in();
  std::set<size_t> rows;
  std::set<std::string> twins;
  for (const PatternCase& item : read_cases()) {
    if (!item.shows)
      twins.insert(item.id + " " + std::string(item.scope == "attribute" ? "device" : item.scope));
    if (!item.shows) continue;
    for (const PatternHit& hit : hits_of(item.id, item.code, item.scope)) rows.insert(hit.matcher);
  }
  for (size_t i = 0; i < table.matchers().size(); ++i) {
    const PatternMatcher& row = table.matchers()[i];
    EXPECT_TRUE(rows.contains(i)) << table.patterns()[row.pattern].id << ": " << row.patterns[0];
    for (const char* scope : {"device", "host", "triton", "cute", "python"}) {
      if (!row.in(scope_named(scope))) continue;
      const std::string id(table.patterns()[row.pattern].id);
      EXPECT_TRUE(twins.contains(id + " " + scope)) << id << " has no near-twin in " << scope;
    }
  }
}

TEST(ScanPatterns, TheTableIsWellFormed) {
  std::set<std::string_view> ids;
  const PatternTable& table = PatternTable::built_in();
  for (const CodePattern& row : table.patterns()) {
    EXPECT_TRUE(ids.insert(row.id).second) << row.id;
    EXPECT_EQ(row.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_"), row.id.npos);
    EXPECT_FALSE(row.title.empty()) << row.id;
    EXPECT_TRUE(row.hardware.ends_with('.')) << row.id;
    EXPECT_NE(row.scopes, 0) << row.id;
  }
  std::set<std::string_view> found;
  for (const PatternMatcher& row : table.matchers()) {
    found.insert(table.patterns()[row.pattern].id);
    EXPECT_EQ(std::count(row.detail.begin(), row.detail.end(), '{'),
              std::count(row.detail.begin(), row.detail.end(), '}'))
        << row.detail;
  }
  EXPECT_EQ(found, ids);
  EXPECT_EQ(table.find("vector_access")->title, "vector memory access");
  EXPECT_EQ(table.find("vector"), nullptr);
}

TEST(ScanPatterns, ANewRowNeedsNoCode) {
  const PatternTable table("id\tscopes\ttitle\thardware\nx\tdevice\tX\tIt is X.\n",
                           "id\tscopes\tkind\tpattern\tdetail\tcertainty\n"
                           "x\tdevice\tcall\tmy_load_*\t{name}\tlikely\n");
  std::vector<uint16_t> rows;
  table.matchers_of_name("my_load_wide", PatternScope::kDevice, rows);
  EXPECT_EQ(rows, std::vector<uint16_t>{0});
  rows.clear();
  table.matchers_of_name("my_load_wide", PatternScope::kHost, rows);
  EXPECT_TRUE(rows.empty());
}

TEST(ScanPatterns, HitsHaveTheirLineAndCondition) {
  const std::string code =
      "if constexpr (kUnit == 16) {\n"
      "  return uint4{};\n"
      "} else {\n"
      "  return uint2{};\n"
      "}\n"
      "asm volatile(\n"
      "    \"{\\n\"\n"
      "    \"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 \"\n"
      "    \"{%0}, {%1}, {%2}, {%3};\\n}\" : \"+f\"(a));\n";
  const auto hits = hits_in(code, "device");
  ASSERT_EQ(hits.size(), 3u);
  EXPECT_EQ(hits[0].line, 2u);
  EXPECT_EQ(hits[0].condition, "kUnit == 16");
  EXPECT_EQ(hits[0].certainty, Certainty::kLikely);
  EXPECT_EQ(hits[1].line, 4u);
  EXPECT_EQ(hits[1].condition, "!(kUnit == 16)");
  EXPECT_EQ(hits[2].line, 8u);
  EXPECT_EQ(hits[2].id, "mma_sync");
  EXPECT_EQ(hits[2].condition, "");
}

TEST(ScanPatterns, OnlyTheRangeIsSearched) {
  const TokenList source = lex("__syncthreads(); __syncwarp(); __syncthreads();");
  const auto hits = find_patterns(source, 4, 8, PatternScope::kDevice);
  ASSERT_EQ(hits.size(), 1u);
  EXPECT_EQ(hits[0].id, "warp_barrier");
}

TEST(ScanPatterns, ACopyInAnotherBranchIsNotTheCollectivesOwn) {
  const auto hits = hits_of("nccl_collective",
                            "if (small) { cudaMemcpyAsync(data, stage, n, kind, s); }\n"
                            "else { ncclAllReduce(data, data, count, t, op, comm, s); }",
                            "host");
  ASSERT_EQ(hits.size(), 1u);
  EXPECT_EQ(hits[0].detail, "ncclAllReduce in place on data");
}

TEST(ScanPatterns, PythonLinesCountFromTheFunctionsFirst) {
  const auto hits = find_python_patterns(
      "def f(p):\n    '''tl.dot'''\n    x = a // 2  # tl.dot\n"
      "    acc = tl.dot(a, b)\n",
      41, PatternScope::kTriton);
  ASSERT_EQ(hits.size(), 1u);
  EXPECT_EQ(hits[0].line, 44u);
}

TEST(ScanPatterns, TheFirstOfEachKeepsTheSurest) {
  const auto hits =
      first_of_each(hits_in("uint4 v;\n"
                            "v = *reinterpret_cast<const uint4*>(p);\n"
                            "v = *reinterpret_cast<const uint4*>(q);\n",
                            "device"));
  ASSERT_EQ(hits.size(), 1u);
  EXPECT_EQ(hits[0].line, 2u);
  EXPECT_EQ(hits[0].certainty, Certainty::kCertain);
}

TEST(ScanPatterns, UnfinishedCodeIsHarmless) {
  for (const PatternCase& item : read_cases()) {
    for (size_t size = 0; size < item.code.size(); ++size) {
      hits_in(item.code.substr(0, size), item.scope);
    }
  }
  EXPECT_TRUE(hits_in("asm", "device").empty());
  EXPECT_TRUE(hits_in("x = [", "device").empty());
}

}  // namespace
}  // namespace fathom::cpp
