#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/diff/time_columns.h"
#include "base/count_text.h"
#include "report/markdown.h"
#include "report/trace/diff_report.h"

namespace fathom {
namespace {

constexpr size_t kShownOps = 40, kShownCategories = 20, kShownLowerings = 15, kShownKernels = 8;
constexpr auto kReadable = TimeColumns::Detail::kReadable;

const MarkdownTableStyle kStyle = {
    {"op", "kernel", "call path", "shapes"}, {"difference (µs)", "difference (%)"}, SIZE_MAX, 100};

std::string traces_table(const DiffReport& report) {
  Table table("traces");
  Column &what = table.text_column(""), &a = table.text_column("A"), &b = table.text_column("B");
  const auto row = [&](std::string_view name, std::string_view in_a, std::string_view in_b) {
    if (in_a.empty() && in_b.empty()) return;
    what.add(name);
    a.add(in_a);
    b.add(in_b);
  };
  const auto rank = [](const Summary& s) { return s.rank ? std::to_string(*s.rank) : ""; };
  row("trace", report.a.trace, report.b.trace);
  row("GPU", report.a.gpu, report.b.gpu);
  row("runtime", report.a.runtime, report.b.runtime);
  row("rank", rank(report.a), rank(report.b));
  row("scope", report.a.scope, report.b.scope);
  row("steps", std::to_string(report.diff.a.steps), std::to_string(report.diff.b.steps));
  row("events", with_thousands(report.a.events), with_thousands(report.b.events));
  row("events skipped", with_thousands(report.a.skipped_events),
      with_thousands(report.b.skipped_events));
  return md_table(table, kStyle);
}

std::string categories_table(const Diff& diff) {
  MarkdownTableStyle style = kStyle;
  style.max_rows = kShownCategories;
  return md_table(counted_table("categories", "category", "calls", counted_categories(diff),
                                diff.per, kReadable),
                  style);
}

// Both where they differ; "3 places" where several were summed.
std::string call_path_text(const OpChange& op) {
  const auto text = [](const OpSide& side) {
    return side.merged > 1 ? fmt::format("{} places", side.merged) : side.path;
  };
  if (!op.a || !op.b || text(*op.a) == text(*op.b)) return text(op.side());
  return fmt::format("A: {}; B: {}", text(*op.a), text(*op.b));
}

std::string ops_table(const Diff& diff, size_t shown) {
  Table table("ops");
  Column &name = table.text_column("op"), &shapes = table.text_column("shapes"),
         &change = table.text_column("change"), &matched = table.text_column("matched by");
  Column &calls_a = table.count_column("A calls"), &calls_b = table.count_column("B calls");
  TimeColumns times(table, diff.per, kReadable);
  Column& share = table.real_column("cumulative share (%)", Unit::kPercent);
  Column& path = table.text_column("call path");
  const Explanation all = explain(diff);
  const double changes = all.more - all.less;
  double so_far = 0;
  const auto calls = [](Column& column, const std::optional<OpSide>& side) {
    side ? column.add(side->calls) : column.add_unknown();
  };
  for (size_t i = 0; i < shown; ++i) {
    const OpChange& op = diff.ops[i];
    so_far += std::abs(difference(op.time(), diff.per));
    name.add(op.name);
    shapes.add(op_shapes_text(op));
    change.add(describe(op.kind(diff.per)));
    matched.add(describe(op.matched));
    calls(calls_a, op.a);
    calls(calls_b, op.b);
    times.add(op.time());
    changes == 0 ? share.add_unknown() : share.add(so_far / changes * 100);
    path.add(call_path_text(op));
  }
  return md_table(table, kStyle);
}

std::string rest_sentence(const Diff& diff, size_t shown) {
  if (shown >= diff.ops.size()) return {};
  double rest = 0;
  for (size_t i = shown; i < diff.ops.size(); ++i) rest += difference(diff.ops[i].time(), diff.per);
  const size_t more = diff.ops.size() - shown;
  return fmt::format("\n{} {} by {}{}; `diff_csvs/ops.csv` has all.\n", counted(more, "more op"),
                     noun(more, "differs", "differ"), signed_time_text(rest),
                     more == 1 ? "" : " together");
}

// The two sets of kernels of an op, side by side.
std::string lowering(const OpChange& op, const Divisors& per) {
  std::vector<CountedChange> rows;
  for (const KernelChange& kernel : op.kernels) {
    rows.push_back({kernel.name, kernel.count_a, kernel.count_b, kernel.time});
  }
  const Table table = counted_table("kernels", "kernel", "kernels", rows, per, kReadable);
  MarkdownTableStyle style = kStyle;
  style.max_rows = kShownKernels;
  const std::string shapes = op_shapes_text(op);
  std::string text = fmt::format("\n{}{}{}: {}\n\n{}", md_code(op.name), shapes.empty() ? "" : " ",
                                 md_text(shapes), signed_time_text(difference(op.time(), per)),
                                 md_table(table, style));
  if (op.kernels.size() > kShownKernels)
    text += fmt::format("\n{}.\n", counted(op.kernels.size() - kShownKernels, "more kernel"));
  return text;
}

std::string lowerings(const Diff& diff) {
  const std::string sentence = kernels_sentence(diff);
  if (sentence.empty()) return {};
  std::string text = "\n## Same op, other kernels\n\n" + sentence + ".\n";
  size_t shown = 0;
  for (const OpChange& op : diff.ops) {
    if (!op.other_kernels) continue;
    if (++shown > kShownLowerings) return text + "\n`diff_csvs/kernels.csv` has all.\n";
    text += lowering(op, diff.per);
  }
  return text;
}

std::string notes(const DiffReport& report) {
  std::string text;
  for (const std::string& note : diff_notes(report)) text += fmt::format("- {}\n", note);
  for (const auto& [label, s] : {std::pair("A", &report.a), std::pair("B", &report.b)}) {
    for (const SummaryNote& note : summary_notes(*s, false))
      text += fmt::format("- {}: {}\n", label, note.text);
  }
  return text.empty() ? text : "\n## Notes\n\n" + text;
}

}  // namespace

std::string diff_markdown(const DiffReport& report) {
  const Diff& diff = report.diff;
  std::string text = "# A and B compared\n\n" + traces_table(report) + "\n";
  if (nothing_differs(diff)) {
    text +=
        report.same_file ? "A and B are the same file: nothing differs.\n" : "Nothing differs.\n";
    return text + notes(report);
  }
  const size_t shown = std::min(diff.ops.size(), kShownOps);
  text += fmt::format("**{}**\n\n{}\n\n{}\n", timeline_sentence(diff), ops_sentence(diff, md_code),
                      units_sentence(diff));
  if (const std::string limits = limits_sentence(report, md_text); !limits.empty()) {
    text += fmt::format("\n{}.\n", limits);
  }
  text += fmt::format("\n## Timeline\n\n{}", md_table(timeline_table(diff, kReadable), kStyle));
  text += "\nCompute, exposed communication, exposed copies and idle add up to the total.\n";
  text += fmt::format("\n## Categories\n\n{}", categories_table(diff));
  text += fmt::format("\n## Ops\n\n{}{}", ops_table(diff, shown), rest_sentence(diff, shown));
  text +=
      "\nSorted by size of the difference. The cumulative share is of all changes, up and down. "
      "An op is matched by call path, name and arguments, else by name and arguments, else by "
      "name and first two arguments, else by call path and name; a `not matched` op is in one "
      "trace only. Its time is the sum of its "
      "kernels' durations.\n";
  text += lowerings(diff);
  return text + notes(report);
}

}  // namespace fathom
