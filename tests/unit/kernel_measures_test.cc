#include "measure/kernel_measures.h"

#include "analyze/finding_parts.h"
#include "checks.h"
#include "report/trace/kernel_sources_markdown.h"
#include "scan/facts/code_facts.h"
#include "sheets/sheets.h"
#include "unit/small_trace.h"

namespace fathom {
namespace {

struct Run {
  const char* name;
  int64_t micros;
  EventKind kind = EventKind::kKernel;
};

EventStore trace_of(const std::vector<Run>& runs) {
  EventStoreBuilder builder;
  Nanos start;
  for (const Run& run : runs) {
    const Nanos duration{run.micros * 1000};
    builder.add({run.kind, start, duration, builder.intern(run.name), {}, {}},
                GpuWork{{}, 0, 7, {}, {}, {}, {}, {}, {}, {}});
    start += duration;
  }
  return std::move(builder).seal({}, 0);
}

KernelFacts definition(std::string name, uint32_t line, std::string scope = "",
                       std::string template_parameters = "") {
  KernelFacts facts;
  facts.name = std::move(name);
  facts.scope = std::move(scope);
  facts.template_parameters = std::move(template_parameters);
  facts.line_name = line;
  CodeEvidence evidence;
  evidence.what = "line" + std::to_string(line);
  facts.evidence = {evidence, evidence};
  return facts;
}

CodeFacts code_of(std::vector<KernelFacts> kernels) {
  CodeFacts facts;
  facts.repository = "repo";
  facts.files = {{.path = "a.cu", .skipped = ""}};
  facts.kernels = std::move(kernels);
  return facts;
}

TEST(KernelMeasures, AKernelWithOneDefinitionIsFoundByItsName) {
  const EventStore store = trace_of({{"gather(int*)", 1}, {"gather(int*)", 1}});
  const KernelMeasures measures(store, code_of({definition("gather", 3), definition("other", 5)}));
  for (size_t i : {0, 1}) {
    const KernelCode& code = measures.code(EventId(i));
    EXPECT_EQ(code.quality(), JoinQuality::kByKey);
    EXPECT_EQ(code.definitions, std::vector<size_t>{0});
    EXPECT_EQ(code.source, "a.cu:3");
    EXPECT_EQ(code.facts, "line3");
  }
}

TEST(KernelMeasures, TheSameNameDefinedTwiceIsAmbiguousAndHasNoFacts) {
  const EventStore store = trace_of({{"copy(int*)", 1}});
  const KernelMeasures measures(store, code_of({definition("copy", 3), definition("copy", 9)}));
  const KernelCode& code = measures.code(EventId(0));
  EXPECT_EQ(code.quality(), JoinQuality::kAmbiguous);
  EXPECT_EQ(code.source, "a.cu:3 or a.cu:9");
  EXPECT_EQ(code.facts, "");
}

TEST(KernelMeasures, ManyDefinitionsAreCounted) {
  const EventStore store = trace_of({{"copy(int*)", 1}});
  const KernelMeasures measures(
      store, code_of({definition("copy", 1), definition("copy", 2), definition("copy", 3),
                      definition("copy", 4), definition("copy", 5)}));
  EXPECT_EQ(measures.code(EventId(0)).source, "a.cu:1 or a.cu:2 or a.cu:3 or 2 more");
}

// The near-twin of each: a longer name, another namespace, a template of the same name.
TEST(KernelMeasures, ANameThatIsNearlyTheSameIsNotFound) {
  const EventStore store = trace_of({{"log_copy(int*)", 1},
                                     {"copy_rows(int*)", 1},
                                     {"other::copy(int*)", 1},
                                     {"copy<4>(int*)", 1}});
  const KernelMeasures measures(store, code_of({definition("copy", 3, "mine")}));
  for (size_t i = 0; i < store.size(); ++i) {
    const KernelCode& code = measures.code(EventId(i));
    EXPECT_EQ(code.quality(), JoinQuality::kNone) << store.name(EventId(i));
    EXPECT_EQ(code.source, "");
  }
}

TEST(KernelMeasures, WithoutCodeNothingIsKnown) {
  const KernelMeasures none;
  EXPECT_FALSE(none.has_code());
  EXPECT_EQ(none.code(EventId(0)).quality(), JoinQuality::kNone);
}

// A copy that is called like a kernel is not that kernel.
TEST(KernelMeasures, OnlyKernelsAreJoined) {
  const EventStore store = trace_of({{"gather", 1}, {"gather", 2, EventKind::kMemcpy}});
  const CodeFacts facts = code_of({definition("gather", 3)});
  const KernelMeasures measures(store, facts);
  EXPECT_EQ(measures.code(EventId(0)).quality(), JoinQuality::kByKey);
  EXPECT_EQ(measures.code(EventId(1)).quality(), JoinQuality::kNone);
  const std::vector<EventId> both = {EventId(0), EventId(1)};
  EXPECT_EQ(code_coverage(store, both, measures).total, Nanos{1000});
}

TEST(CodeCoverage, SharesSayHowMuchOfTheTimeWasFound) {
  const EventStore store = trace_of(
      {{"gather(int*)", 30}, {"foreign(int*)", 50}, {"copy(int*)", 15}, {"gather(int*)", 5}});
  const CodeFacts facts =
      code_of({definition("gather", 3), definition("copy", 7), definition("copy", 9)});
  const KernelMeasures measures(store, facts);
  std::vector<EventId> events = {EventId(0), EventId(1), EventId(2), EventId(3)};
  const CodeCoverage all = code_coverage(store, events, measures);
  EXPECT_EQ(all.repository, "repo");
  EXPECT_EQ(all.total, Nanos{100000});
  EXPECT_EQ(all.found, Nanos{50000});
  EXPECT_EQ(all.ambiguous, Nanos{15000});
  ASSERT_EQ(all.kernels.size(), 3);
  EXPECT_EQ(all.kernels[0].name, "foreign(int*)");
  EXPECT_EQ(all.kernels[1].name, "gather(int*)");
  EXPECT_EQ(all.kernels[1].time, Nanos{35000});
  const std::string page = kernel_sources_markdown(facts, all);
  EXPECT_NE(page.find("50.0 % of the kernels' time is of kernels that the repository defines; 15.0 "
                      "% is ambiguous"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("Ambiguous: its name fits 2 kernels"), std::string::npos) << page;

  // Of a part of the trace, its part.
  events.resize(1);
  EXPECT_EQ(code_coverage(store, events, measures).total, Nanos{30000});
  EXPECT_EQ(code_coverage(store, {}, measures).total, Nanos{});
}

std::vector<std::string> cells(const Table& sheet, std::string_view name) {
  for (const Column& column : sheet.columns()) {
    if (column.name() != name) continue;
    std::vector<std::string> out;
    for (size_t row = 0; row < sheet.rows(); ++row)
      out.push_back(column.known(row) ? column.cell(row) : "unknown");
    return out;
  }
  return {};
}

TEST(KernelSummary, SourceIsAColumnWhereCodeIsKnown) {
  const EventStore store =
      trace_of({{"foreign(int*)", 50}, {"gather(int*)", 30}, {"copy(int*)", 15}});
  const CallTree tree = build_call_tree(store);
  const Scope scope;
  const CodeFacts facts =
      code_of({definition("gather", 3), definition("copy", 7), definition("copy", 9)});
  const SheetInput input(store, tree, scope, KernelMeasures(store, facts));
  const Table sheet = kernel_summary_sheet(input, {});
  using Cells = std::vector<std::string>;
  EXPECT_EQ(cells(sheet, "Source"), (Cells{"unknown", "a.cu:3", "a.cu:7 or a.cu:9"}));
  EXPECT_EQ(cells(sheet, "Code facts"), (Cells{"unknown", "line3", "unknown"}));

  const Table without = kernel_summary_sheet(SheetInput(store, tree, scope), {});
  EXPECT_EQ(without.columns().size() + 2, sheet.columns().size());
  EXPECT_EQ(cells(without, "Source"), Cells{});
}

TEST(EvidenceOp, KernelsHaveTheirSourcesWhereCodeIsKnown) {
  const Trace trace = test::open_events(
      {test::cpu_op("aten::mm", 0, 50), test::launch_call(10, 2, 1), test::launch_call(20, 2, 2),
       test::launch_call(30, 2, 3), test::kernel("gather(int*)", 100, 1, 1),
       test::kernel("foreign(int*)", 110, 9, 2), test::kernel("gather(int*)", 120, 9, 3)});
  const EventStore& store = trace.store;
  const CallTree& tree = trace.tree;
  const Scope scope;
  const CodeFacts facts = code_of({definition("gather", 3)});
  const auto evidence = [&](const SheetInput& input) {
    const MeasuredOps ops(input, find_launchers(input));
    const Assessment assessment(input, ops, nullptr);
    EvidenceOp all;
    for (const AssessedOp& op : assessment.ops()) {
      const EvidenceOp one = evidence_of(assessment, op);
      all.kernels.insert(all.kernels.end(), one.kernels.begin(), one.kernels.end());
      all.sources.insert(all.sources.end(), one.sources.begin(), one.sources.end());
    }
    return all;
  };
  using Names = std::vector<std::string>;
  const EvidenceOp with = evidence(SheetInput(store, tree, scope, KernelMeasures(store, facts)));
  const EvidenceOp without = evidence(SheetInput(store, tree, scope));
  EXPECT_EQ(with.kernels, (Names{"gather(int*)", "foreign(int*)"}));
  EXPECT_EQ(with.sources, (Names{"a.cu:3", ""}));
  EXPECT_EQ(without.kernels, with.kernels);
  EXPECT_EQ(without.sources, Names{});
}

}  // namespace
}  // namespace fathom
