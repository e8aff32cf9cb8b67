// Real recordings of other tools, held against what plain SQL and a plain JSON reader find in them.
#include <simdjson.h>
#include <sqlite3.h>

#include <map>

#include "base/byte_source.h"
#include "base/read_all.h"
#include "checks.h"
#include "session/analyze.h"
#include "session/compare.h"
#include "session/replay.h"
#include "test_files.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

fs::path shared(const std::string& name) {
  return test::source_dir().parent_path() / "shared/data" / name;
}

Trace open_shared(const fs::path& path) {
  Result<Trace> trace = open_trace(path);
  EXPECT_TRUE(trace.ok()) << (trace.ok() ? "" : trace.error().message);
  return trace.take();
}

struct Total {
  int64_t count = 0, time = 0;
  bool operator==(const Total&) const = default;
};
using Totals = std::map<std::string, Total>;

Totals totals_of(const EventStore& store, EventKind kind) {
  Totals totals;
  for (size_t i = 0; i < store.size(); ++i) {
    if (store.kind(EventId(i)) != kind) continue;
    Total& total = totals[std::string(store.name(EventId(i)))];
    ++total.count;
    total.time += store.duration(EventId(i)).count;
  }
  return totals;
}

class PlainSql {
 public:
  explicit PlainSql(const fs::path& path) {
    EXPECT_EQ(sqlite3_open_v2(("file:" + path.string() + "?immutable=1").c_str(), &db_,
                              SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr),
              SQLITE_OK);
  }
  ~PlainSql() { sqlite3_close(db_); }
  PlainSql(const PlainSql&) = delete;
  PlainSql& operator=(const PlainSql&) = delete;

  Totals totals(const std::string& sql) const {
    Totals found;
    visit(sql, [&](sqlite3_stmt* row) {
      const auto* name = reinterpret_cast<const char*>(sqlite3_column_text(row, 0));
      found[name] = {sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2)};
    });
    return found;
  }
  int64_t number(const std::string& sql) const {
    int64_t found = -1;
    visit(sql, [&](sqlite3_stmt* row) { found = sqlite3_column_int64(row, 0); });
    return found;
  }

 private:
  void visit(const std::string& sql, const std::function<void(sqlite3_stmt*)>& each) const {
    sqlite3_stmt* statement = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(db_, sql.c_str(), -1, &statement, nullptr), SQLITE_OK)
        << sqlite3_errmsg(db_);
    while (sqlite3_step(statement) == SQLITE_ROW) each(statement);
    sqlite3_finalize(statement);
  }
  sqlite3* db_ = nullptr;
};

class SharedNsys : public testing::TestWithParam<const char*> {};

TEST_P(SharedNsys, AgreesWithSql) {
  const fs::path path = shared(GetParam());
  if (!fs::exists(path)) GTEST_SKIP() << "skipped: no shared data";
  const Trace trace = open_shared(path);
  const PlainSql sql(path);
  EXPECT_EQ(totals_of(trace.store, EventKind::kKernel),
            sql.totals("SELECT value, count(*), sum(end-start) FROM CUPTI_ACTIVITY_KIND_KERNEL "
                       "JOIN StringIds ON id=demangledName GROUP BY 1"));
  int64_t bytes = 0, copies = 0;
  for (size_t i = 0; i < trace.store.size(); ++i) {
    if (trace.store.kind(EventId(i)) != EventKind::kMemcpy) continue;
    ++copies;
    bytes += trace.store.gpu_work(EventId(i)).bytes.value_or(0);
  }
  EXPECT_EQ(copies, sql.number("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY"));
  EXPECT_EQ(bytes, sql.number("SELECT sum(bytes) FROM CUPTI_ACTIVITY_KIND_MEMCPY"));
  EXPECT_EQ(totals_of(trace.store, EventKind::kRuntime)["cudaLaunchKernel"].count,
            sql.number("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON "
                       "id=nameId WHERE value LIKE 'cudaLaunchKernel%' AND eventClass=0"));
  // All of the work is launched by a call of the file, one each.
  EXPECT_EQ(trace.tree.unlinked().size(), 0u);
  EXPECT_EQ(trace.tree.diagnostics().count(Flaw::kAmbiguousCorrelation), 0);
  EXPECT_FALSE(trace.tree.has_ops());
  const Result<Analysis> analysis = analyze(trace, Scope{}, {1});
  ASSERT_TRUE(analysis.ok());
  const GpuTimeline& t = analysis.value().summary.timeline;
  EXPECT_EQ(t.total.count,
            sql.number("SELECT max(e)-min(s) FROM (SELECT min(start) s, max(end) e FROM "
                       "CUPTI_ACTIVITY_KIND_KERNEL UNION ALL SELECT min(start), max(end) FROM "
                       "CUPTI_ACTIVITY_KIND_MEMCPY)"));
  EXPECT_TRUE(analysis.value().summary.source.starts_with("Nsight Systems 20"));
  ASSERT_TRUE(compare(trace, trace, Scope{}, Scope{}).ok());
  PackPlace nowhere;
  nowhere.write = false;
  const Result<PackResult> packed = pack_replays(trace, {}, nowhere);
  ASSERT_TRUE(packed.ok());
  EXPECT_TRUE(packed.value().packed.empty());
}

INSTANTIATE_TEST_SUITE_P(All, SharedNsys,
                         testing::Values("nsys/perlmutter-cloverleaf-cuda.sqlite",
                                         "nsys/saxpy-mpi-cuda_nsys_perlmutter0.sqlite"),
                         [](const auto& given) {
                           return given.index == 0 ? "Schema3" : "Schema2";
                         });

TEST(SharedRocprof, JsonAgreesWithAPlainReader) {
  const fs::path path = shared("rocprof/908_results.json.gz");
  if (!fs::exists(path)) GTEST_SKIP() << "skipped: no shared data";
  const Trace trace = open_shared(path);
  Result<std::unique_ptr<ByteSource>> source = open_source(path);
  ASSERT_TRUE(source.ok());
  const Result<WholeText> text = read_all(*source.value(), size_t{1} << 30);
  ASSERT_TRUE(text.ok());
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  ASSERT_FALSE(parser.parse(text.value().text).get(document));
  const simdjson::dom::element tool = document["rocprofiler-sdk-tool"].at(0).value_unsafe();
  std::map<int64_t, std::string> names;
  for (simdjson::dom::element symbol : tool["kernel_symbols"].get_array().value_unsafe()) {
    names[symbol["kernel_id"].get_int64().value_unsafe()] =
        std::string(symbol["formatted_kernel_name"].get_string().value_unsafe());
  }
  Totals expected;
  int64_t groups = 0;
  for (simdjson::dom::element d :
       tool["buffer_records"]["kernel_dispatch"].get_array().value_unsafe()) {
    const simdjson::dom::element facts = d["dispatch_info"].value_unsafe();
    Total& total = expected[names[facts["kernel_id"].get_int64().value_unsafe()]];
    ++total.count;
    total.time += d["end_timestamp"].get_int64().value_unsafe() -
                  d["start_timestamp"].get_int64().value_unsafe();
    groups += facts["grid_size"]["x"].get_int64().value_unsafe() /
              facts["workgroup_size"]["x"].get_int64().value_unsafe();
  }
  EXPECT_EQ(totals_of(trace.store, EventKind::kKernel), expected);
  int64_t blocks = 0;
  for (size_t i = 0; i < trace.store.size(); ++i) {
    if (const auto& grid = trace.store.gpu_work(EventId(i)).grid) blocks += grid->x;
  }
  EXPECT_EQ(blocks, groups);
  EXPECT_FALSE(trace.tree.has_launches());
  EXPECT_TRUE(analyze(trace, Scope{}, {1}).ok());
}

}  // namespace
}  // namespace fathom
