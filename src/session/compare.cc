#include "session/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyze/finding_parts.h"
#include "report/csv.h"
#include "report/page/documents_page.h"
#include "session/steady_input.h"
#include "session/summarize.h"

namespace fathom {

namespace fs = std::filesystem;

namespace {

// The least time of one call on a platform, by the op's name and the trace's own argument texts.
using Limits = std::map<std::tuple<std::string, std::string, std::string>, double>;

Limits nanos_at_limit(const SheetInput& input, const Platform& platform) {
  Limits limits;
  const MeasuredOps ops(input, find_launchers(input));
  const Assessment assessment(input, ops, &platform);
  for (const AssessedOp& op : assessment.ops()) {
    const ArgsId id = op.group->key.args;
    if (!op.bound || !id.valid()) continue;
    const Args& args = input.store.args(id);
    limits.try_emplace({std::string(op.group->key.name), std::string(input.store.text(args.dims)),
                        std::string(input.store.text(args.types))},
                       op.bound->seconds() * 1e9);
  }
  return limits;
}

std::optional<double> limit_of_side(const Limits& limits, const std::string& op,
                                    const OpSide& side) {
  if (side.merged != 1) return {};  // several argument sets are summed there
  const auto found = limits.find({op, side.dims, side.types});
  if (found == limits.end()) return {};
  return found->second * static_cast<double>(side.calls);
}

void explain_by_limits(const SheetInput& a, const SheetInput& b, const Platform& platform_a,
                       const Platform& platform_b, Diff& diff) {
  const Limits limits_a = nanos_at_limit(a, platform_a), limits_b = nanos_at_limit(b, platform_b);
  for (OpChange& op : diff.ops) {
    if (!op.a || !op.b) continue;
    const auto at_a = limit_of_side(limits_a, op.name, *op.a),
               at_b = limit_of_side(limits_b, op.name, *op.b);
    if (!at_a || !at_b) continue;
    op.explained_by_limits = LimitExplanation{divided_a(nanos_from(*at_a / 1e9), diff.per),
                                              divided_b(nanos_from(*at_b / 1e9), diff.per)};
  }
}

}  // namespace

Result<DiffReport> compare(const Trace& a, const Trace& b, const Scope& scope_a,
                           const Scope& scope_b) {
  const SheetInput whole_a(a.store, a.tree, scope_a), whole_b(b.store, b.tree, scope_b);
  TRY(check_scope(whole_a, a.path));
  TRY(check_scope(whole_b, b.path));
  const auto [steady_a, steady_b] = SteadyInput::of_both(whole_a, whole_b);
  const SheetInput& input_a = steady_a ? steady_a->input : whole_a;
  const SheetInput& input_b = steady_b ? steady_b->input : whole_b;
  DiffReport report;
  report.a = summarize(a, input_a);
  report.b = summarize(b, input_b);
  report.diff = diff_traces(input_a, input_b);
  constexpr int64_t kActivityParts = 600;
  const Nanos longest = std::max(median_step(input_a), median_step(input_b));
  report.activity_part = Nanos{std::max<int64_t>(1, longest.count / kActivityParts)};
  report.activity_a = step_activity(input_a, report.activity_part);
  report.activity_b = step_activity(input_b, report.activity_part);
  const Platform *platform_a = detect_platform(a), *platform_b = detect_platform(b);
  if (platform_a != nullptr && platform_b != nullptr && platform_a != platform_b) {
    report.platform_a = platform_a->name;
    report.platform_b = platform_b->name;
    explain_by_limits(input_a, input_b, *platform_a, *platform_b, report.diff);
  }
  std::error_code ignored;
  report.same_file = fs::equivalent(a.path, b.path, ignored);
  return report;
}

namespace {

// The wall time of one of the two, by what the GPU did in it.
PageBar wall_bar(std::string_view side, const Summary& s) {
  const DeviceTime mean = s.base.mean_device();
  PageBar bar{fmt::format("{}: {}", side, s.trace),
              {{"computation", "compute", mean.computation},
               {"exposed_communication", "exposed communication", mean.exposed_communication},
               {"exposed_copies", "exposed copies", mean.exposed_copies}}};
  for (const Summary::IdlePart& part : s.idle) {
    std::string words(part.cause);
    std::ranges::replace(words, '_', ' ');
    bar.parts.push_back({"idle." + std::string(part.cause), "idle: " + words, part.time});
  }
  if (s.idle.empty()) bar.parts.push_back({"idle.unknown", "idle", mean.idle});
  std::erase_if(bar.parts, [](const PageBar::Part& part) { return part.time.count <= 0; });
  return bar;
}

PageOverlay overlay_of(const DiffReport& report) {
  constexpr size_t kMostPairs = 25;
  const Diff& diff = report.diff;
  const auto side = [](const Summary& summary, const StepActivity& activity) {
    const std::string step = activity.name.empty() ? "" : ", " + activity.name;
    return PageOverlay::Side{summary.trace + step, activity.length, activity.busy};
  };
  PageOverlay overlay{side(report.a, report.activity_a),
                      side(report.b, report.activity_b),
                      report.activity_part,
                      diff.per.steps ? "per step" : "",
                      {},
                      {}};
  for (const CategoryChange& category : diff.categories)
    overlay.categories.push_back({category.name, divided_a(category.time.a, diff.per),
                                  divided_b(category.time.b, diff.per)});
  for (size_t i = 0; i < std::min(diff.ops.size(), kMostPairs); ++i) {
    const OpChange& op = diff.ops[i];
    const std::string shapes = op_shapes_text(op);
    overlay.ops.push_back({op.name + (shapes.empty() ? "" : " (" + shapes + ")"),
                           divided_a(op.time().a, diff.per), divided_b(op.time().b, diff.per)});
  }
  return overlay;
}

}  // namespace

Result<std::vector<std::string>> write_diff(DiffReport& report, bool page,
                                            const OutputPlace& place) {
  OutputDirectory out = TRY(OutputDirectory::create(place));
  report.listing = {shown_directory(place.path).string(), {"diff.md", "diff.json"}};
  std::vector<Table> tables = diff_tables(report.diff);
  if (page) report.listing.files.emplace_back("report.html");
  for (const Table& table : tables) {
    report.listing.files.push_back(fmt::format("diff_csvs/{}.csv", table.name()));
    TRY(out.write_file(report.listing.files.back(), to_csv(table)));
  }
  const std::string text = diff_markdown(report);
  TRY(out.write_file("diff.md", text));
  if (page) {
    TRY(out.write_file(
        "report.html",
        documents_page({"diff",
                        fmt::format("{} and {} compared", report.a.trace, report.b.trace),
                        timeline_sentence(report.diff),
                        {{"diff.md", text}},
                        {},
                        std::move(tables),
                        {wall_bar("A", report.a), wall_bar("B", report.b)},
                        overlay_of(report)})));
  }
  TRY(out.write_file("diff.json", diff_json(report)));
  return out.commit();
}

}  // namespace fathom
