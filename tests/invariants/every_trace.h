#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checks.h"
#include "ingest/kineto/reader.h"
#include "session/analyze.h"

// Laws are checked on every real trace there is: the project's examples, and the shared ones that
// may lie beside the checkout.
namespace fathom::test {

// Paths. Where there is no shared data, one name stands for it, and its tests are skipped.
std::vector<std::string> traces_for_laws();
std::string name_of_trace(const ::testing::TestParamInfo<std::string>& param);

#define FATHOM_FOR_EVERY_TRACE(suite)                                                       \
  INSTANTIATE_TEST_SUITE_P(EveryTrace, suite, ::testing::ValuesIn(test::traces_for_laws()), \
                           test::name_of_trace)

class LawOfTraces : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;

  const std::string& path() const { return GetParam(); }
  // Read once for all laws.
  const Trace& trace() const;
  // The decompressed text, by a tool that is not ours.
  const std::string& text() const;
};

Trace read_with(const std::string& path, const kineto::ReadOptions& options);

// All that a report holds, by file name: each sheet as CSV, and summary.json. The trace's own name
// and path are left out of it.
using ReportFiles = std::map<std::string, std::string>;
ReportFiles report_files(const Trace& trace, const Scope& scope = {});
// The names of files that differ; empty when the reports are equal to the last byte.
std::string differing_files(const ReportFiles& a, const ReportFiles& b);

const Column& column(const Table& table, std::string_view name);
// A cell of a time column, to the nanosecond.
Nanos exact_time(const Column& column, size_t row);
Nanos exact_sum(const Table& table, std::string_view name);
double real_sum(const Table& table, std::string_view name);

// A trace's text taken apart: what stands before the first event, each event, what stands after.
struct TraceParts {
  std::string_view head, tail;
  std::vector<std::string_view> events;
};
TraceParts take_apart(std::string_view json);

}  // namespace fathom::test
