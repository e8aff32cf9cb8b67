#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analyze/finding_parts.h"
#include "base/ascii.h"
#include "base/count_text.h"
#include "base/sort_runs.h"
#include "report/trace/diff_report.h"

namespace fathom {
namespace {

constexpr size_t kShownShapes = 3;

std::string per_step(const Diff& diff) { return diff.per.steps ? " per step" : ""; }

std::string named_ops(const Diff& diff, size_t count, const NameWriter& name) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    const OpChange& op = diff.ops[i];
    const std::string shapes = op_shapes_text(op);
    text += fmt::format("{}{}{} {}", i == 0 ? "" : ", ", name(op.name),
                        shapes.empty() ? "" : fmt::format(" ({})", shapes),
                        signed_time_text(difference(op.time(), diff.per)));
    if (const ChangeKind kind = op.kind(diff.per);
        kind == ChangeKind::kAdded || kind == ChangeKind::kRemoved)
      text += fmt::format(" {}", describe(kind));
  }
  return text;
}

}  // namespace

std::string time_text(double nanos) {
  const double size = std::abs(nanos);
  if (size >= 1e9) return fmt::format("{:.2f} s", nanos / 1e9);
  if (size >= 1e6) return fmt::format("{:.2f} ms", nanos / 1e6);
  return fmt::format("{:.1f} µs", nanos / 1e3);
}

std::string signed_time_text(double nanos) {
  return nanos == 0 ? "±0" : (nanos > 0 ? "+" : "") + time_text(nanos);
}

std::string shapes_text(std::string_view dims) {
  std::string out, shape;
  size_t shapes = 0;
  // Lists of tensors are lists in a list: the innermost ones are shapes.
  for (const char c : dims) {
    if (is_digit(c)) {
      shape += c;
    } else if (c == ',' && !shape.empty()) {
      shape += "×";
    } else if (c == ']' && !shape.empty()) {
      if (++shapes <= kShownShapes) out += (out.empty() ? "" : ", ") + shape;
      shape.clear();
    } else if (c == '[') {
      shape.clear();
    }
  }
  return shapes > kShownShapes ? out + ", …" : out;
}

std::string op_shapes_text(const OpChange& op) {
  if (!op.a || !op.b || op.a->dims == op.b->dims) return shapes_text(op.side().dims);
  if (op.a->merged > 1 || op.b->merged > 1) return "several shapes";
  const std::string a = shapes_text(op.a->dims), b = shapes_text(op.b->dims);
  return fmt::format("{} → {}", a.empty() ? "no shapes" : a, b.empty() ? "no shapes" : b);
}

namespace {

// What is compared is the steady state.
std::string start_up_sentence(const Diff& diff) {
  const auto side = [](std::string_view name, Nanos time) {
    return time.count > 0 ? fmt::format("{} of {}", micros_text(time), name) : std::string();
  };
  const std::string a = side("A", diff.a.start_up), b = side("B", diff.b.start_up);
  if (a.empty() && b.empty()) return {};
  return fmt::format(" The start-up is left out: {}{}{}.", a, !a.empty() && !b.empty() ? ", " : "",
                     b);
}

std::string per_text(const Diff& diff) {
  if (diff.per.steps) {
    return fmt::format("Times are per step: A has {}, B has {}.",
                       counted(static_cast<uint64_t>(diff.a.steps), "step"),
                       counted(static_cast<uint64_t>(diff.b.steps), "step"));
  }
  if (diff.a.steps + diff.b.steps > 0) {
    return fmt::format("Times are totals: A has {}, B has {}, and both need some to compare steps.",
                       counted(static_cast<uint64_t>(diff.a.steps), "step"),
                       counted(static_cast<uint64_t>(diff.b.steps), "step"));
  }
  return "Times are totals: neither trace has steps.";
}

}  // namespace

std::string units_sentence(const Diff& diff) { return per_text(diff) + start_up_sentence(diff); }

std::string timeline_sentence(const Diff& diff) {
  std::vector<TimelineChange> parts = timeline_changes(diff);
  const Change total = parts.back().time;
  std::erase_if(parts, [&](const TimelineChange& part) {
    return !part.is_part || scaled_difference(part.time, diff.per) == 0;
  });
  sort_runs(parts, [&](const TimelineChange& x, const TimelineChange& y) {
    return std::abs(difference(x.time, diff.per)) > std::abs(difference(y.time, diff.per));
  });
  std::string text = fmt::format("{} time {}{}", diff.is_wall_time ? "Wall" : "GPU",
                                 signed_time_text(difference(total, diff.per)), per_step(diff));
  if (const auto percent = percent_more(total, diff.per))
    text += fmt::format(" ({:+.1f} %)", *percent);
  for (size_t i = 0; i < parts.size(); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? ": " : ", ", parts[i].name,
                        signed_time_text(difference(parts[i].time, diff.per)));
  }
  return text + ".";
}

// Those that changed most, which are the first.
std::string named_categories(const Diff& diff) {
  constexpr size_t kNamed = 3;
  std::string text;
  for (size_t i = 0; i < std::min(diff.categories.size(), kNamed); ++i) {
    const CategoryChange& one = diff.categories[i];
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", one.name,
                        signed_time_text(difference(one.time, diff.per)));
  }
  return text;
}

std::string ops_sentence(const Diff& diff, const NameWriter& name) {
  const Explanation why = explain(diff);
  if (why.ops == 0) return "No op differs.";
  const std::string ops = counted(why.ops, "op");
  const std::string named = named_ops(diff, why.ops, name);
  if (why.of_difference) {
    return fmt::format("{} {} {:.0f} % of {} of GPU work{}: {}.", ops,
                       why.ops == 1 ? "explains" : "explain", why.share * 100,
                       signed_time_text(difference(diff.work(), diff.per)), per_step(diff), named);
  }
  // Where no few ops tell of it: one op's kernels may stand under other names in B.
  constexpr double kTelling = 0.5;
  if (why.share < kTelling && !diff.categories.empty())
    return fmt::format("GPU work{} grew by {} in some ops and shrank by {} in others; most by {}.",
                       per_step(diff), time_text(why.more), time_text(-why.less),
                       named_categories(diff));
  return fmt::format(
      "GPU work{} grew by {} in some ops and shrank by {} in others: {} {} {:.0f} % "
      "of these changes: {}.",
      per_step(diff), time_text(why.more), time_text(-why.less), ops,
      why.ops == 1 ? "makes up" : "make up", why.share * 100, named);
}

std::string limits_sentence(const DiffReport& report, const NameWriter& name) {
  const Diff& diff = report.diff;
  double covered = 0, by_limits = 0, beyond = 0;
  for (const OpChange& op : diff.ops) {
    if (!op.explained_by_limits || op.explained_by_limits->nanos_a <= 0) continue;
    const double a = divided_a(op.a->time, diff.per), b = divided_b(op.b->time, diff.per);
    // The same distance from the limit on either platform.
    const double expected = a * op.explained_by_limits->nanos_b / op.explained_by_limits->nanos_a;
    covered += a;
    by_limits += expected - a;
    beyond += b - expected;
  }
  double whole = 0;
  for (const OpChange& op : diff.ops) whole += op.a ? divided_a(op.a->time, diff.per) : 0;
  if (covered <= 0 || whole <= 0) return {};
  return fmt::format(
      "{} → {}: over {:.0f} % of A's GPU work the limits alone would make {:+.2f} ms; {:+.2f} ms "
      "they "
      "do not explain",
      name(report.platform_a), name(report.platform_b), covered / whole * 100, by_limits / 1e6,
      beyond / 1e6);
}

std::string kernels_sentence(const Diff& diff) {
  const auto count = std::ranges::count_if(diff.ops, &OpChange::other_kernels);
  if (count == 0) return {};
  return fmt::format("{} ran other kernels in B than in A", counted(count, "op"));
}

std::vector<std::string> diff_notes(const DiffReport& report) {
  const Diff& diff = report.diff;
  std::vector<std::string> notes;
  if (report.a.has_frames != report.b.has_frames) {
    notes.push_back(fmt::format(
        "only {} was recorded with Python stacks, which slow the host down: idle and wall time "
        "differ by that too; record both alike",
        report.a.has_frames ? 'A' : 'B'));
  }
  if (!diff.per.steps) return notes;
  const auto outside = [&](char trace, const DiffSide& side) {
    if (side.outside_steps == Nanos{}) return;
    notes.push_back(
        fmt::format("{:.1f} % of {}'s GPU work was launched outside its steps and is "
                    "shared out among them; --steps 0: leaves it out",
                    ratio(side.outside_steps, side.work) * 100, trace));
  };
  outside('A', diff.a);
  outside('B', diff.b);
  return notes;
}

}  // namespace fathom
