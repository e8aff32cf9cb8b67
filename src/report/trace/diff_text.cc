#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/trace/diff_report.h"

namespace fathom {
namespace {

constexpr size_t kTopDiffOps = 8, kTopCategories = 4;
constexpr size_t kDiffNumbersWidth = 12 + 6 + 14 + 10 + 10 + 11 + 9;

// One unit for a table, so that its numbers can be compared at a glance.
struct ShownUnit {
  double nanos;
  std::string_view name;

  std::string number(double value) const { return fmt::format("{:.1f}", value / nanos); }
  std::string signed_number(double value) const { return fmt::format("{:+.1f}", value / nanos); }
};

ShownUnit unit_for(double largest) {
  return std::abs(largest) >= 1e9 ? ShownUnit{1e6, "ms"} : ShownUnit{1e3, "µs"};
}

std::string change_percent_text(const Change& change, const Divisors& per) {
  const auto percent = percent_more(change, per);
  return percent ? fmt::format("{:+.1f} %", *percent) : "";
}

std::string without_blanks_at_end(std::string line) {
  line.resize(line.find_last_not_of(' ') + 1);
  return line;
}

// Words of a sentence on as many lines as it needs, indented under its label.
void wrapped(Screen& screen, std::string_view label, std::string_view text, size_t width) {
  const size_t room = width - std::min<size_t>(width, 8);
  std::string line;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (!line.empty() && screen_width(line) + 1 + screen_width(word) > room) {
      screen.entry(label, line);
      label = "";
      line.clear();
    }
    line += line.empty() ? "" : " ";
    line += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (!line.empty()) screen.entry(label, line);
}

// Of "op->kernel (Synthetic Op)" the kernel: cut to a column, all of an op's would look alike.
std::string_view short_name(std::string_view name) {
  constexpr std::string_view kSynthetic = " (Synthetic Op)";
  const size_t arrow = name.find("->");
  if (arrow == std::string_view::npos || !name.ends_with(kSynthetic)) return name;
  name.remove_suffix(kSynthetic.size());
  return name.substr(std::min(arrow, name.size()));
}

// Names in sentences: a kernel's can fill a screen.
std::string shown_name(std::string_view name) {
  constexpr size_t kShown = 60;
  return shortened(screen_safe(short_name(name)), kShown);
}

void show_timeline(Screen& screen, const Diff& diff) {
  const std::vector<TimelineChange> changes = timeline_changes(diff);
  const auto largest = std::max(divided_a(changes.back().time.a, diff.per),
                                divided_b(changes.back().time.b, diff.per));
  const ShownUnit unit = unit_for(largest);
  const auto row = [](std::string_view name, std::string_view a, std::string_view b,
                      std::string_view difference, std::string_view percent) {
    return without_blanks_at_end(fmt::format("{} {:>12} {:>12} {:>12} {:>10}", fit_left(name, 28),
                                             a, b, difference, percent));
  };
  screen.line(
      screen.bold(row(diff.is_wall_time ? "Wall time" : "GPU time", fmt::format("A {}", unit.name),
                      fmt::format("B {}", unit.name), "difference", "")));
  for (const TimelineChange& change : changes) {
    if (change.time == Change{}) continue;
    const std::string text =
        row(fmt::format("  {}", change.name), unit.number(divided_a(change.time.a, diff.per)),
            unit.number(divided_b(change.time.b, diff.per)),
            unit.signed_number(difference(change.time, diff.per)),
            change_percent_text(change.time, diff.per));
    screen.line(change.is_part ? text : screen.bold(text));
  }
}

std::string_view short_match(const OpChange& op) {
  switch (op.matched) {
    case MatchedBy::kPathAndArguments:
      return "exact";
    case MatchedBy::kArguments:
      return "args";
    case MatchedBy::kFirstOperands:
      return "operands";
    case MatchedBy::kPath:
      return "path";
    case MatchedBy::kNothing:
      break;
  }
  return "";
}

class OpRows {
 public:
  OpRows(const Diff& diff, size_t width)
      : diff_(diff),
        name_width_(std::clamp<size_t>(width - std::min(width, kDiffNumbersWidth), 20, 80)) {
    double largest = 0;
    for (const OpChange& op : diff.ops) {
      largest =
          std::max({largest, divided_a(op.time().a, diff.per), divided_b(op.time().b, diff.per)});
    }
    unit_ = unit_for(largest);
    const Explanation all = explain(diff);
    changes_ = all.more - all.less;
  }

  std::string head(std::string_view what) const {
    return row(what, "change", "match", "calls", fmt::format("A {}", unit_.name),
               fmt::format("B {}", unit_.name), "difference", "share");
  }

  std::string op(const OpChange& op) const {
    const std::string shapes = op_shapes_text(op);
    const auto calls = [](const std::optional<OpSide>& side) {
      return side ? with_thousands(side->calls) : "–";
    };
    const std::string both = calls(op.a), other = calls(op.b);
    return times(fmt::format("  {}{}{}", screen_safe(short_name(op.name)),
                             shapes.empty() ? "" : " ", shapes),
                 describe(op.kind(diff_.per)), short_match(op),
                 both == other ? both : fmt::format("{} → {}", both, other), op.time(),
                 std::abs(difference(op.time(), diff_.per)));
  }

  // What is not shown, so that the column adds up.
  std::string rest(std::string_view what, size_t from) const {
    Change time;
    double moved = 0;
    for (size_t i = from; i < diff_.ops.size(); ++i) {
      time.a += diff_.ops[i].time().a;
      time.b += diff_.ops[i].time().b;
      moved += std::abs(difference(diff_.ops[i].time(), diff_.per));
    }
    return times(what, "", "", "", time, moved);
  }

  std::string category(const CategoryChange& c) const {
    const std::string a = with_thousands(c.calls_a), b = with_thousands(c.calls_b);
    return row("  " + screen_safe(c.name), "", "", a == b ? a : fmt::format("{} → {}", a, b),
               unit_.number(divided_a(c.time.a, diff_.per)),
               unit_.number(divided_b(c.time.b, diff_.per)),
               unit_.signed_number(difference(c.time, diff_.per)), "");
  }

 private:
  std::string times(std::string_view name, std::string_view change, std::string_view match,
                    std::string_view calls, const Change& time, double moved) const {
    return row(name, change, match, calls, unit_.number(divided_a(time.a, diff_.per)),
               unit_.number(divided_b(time.b, diff_.per)),
               unit_.signed_number(difference(time, diff_.per)),
               changes_ == 0 ? "" : fmt::format("{:.1f} %", moved / changes_ * 100));
  }

  std::string row(std::string_view name, std::string_view change, std::string_view match,
                  std::string_view calls, std::string_view a, std::string_view b,
                  std::string_view difference, std::string_view share) const {
    return without_blanks_at_end(fmt::format("{} {:<11} {:<5} {:>13} {:>9} {:>9} {:>10} {:>8}",
                                             fit_left(name, name_width_), change, match, calls, a,
                                             b, difference, share));
  }

  const Diff& diff_;
  size_t name_width_;
  ShownUnit unit_{1e3, "µs"};
  double changes_ = 0;
};

void show_ops(Screen& screen, const Diff& diff, size_t width) {
  const OpRows rows(diff, width);
  const auto different = static_cast<size_t>(std::ranges::count_if(
      diff.ops, [&](const OpChange& op) { return op.kind(diff.per) != ChangeKind::kSame; }));
  const size_t shown = std::min(different, kTopDiffOps);
  screen.line(screen.bold(rows.head("Ops")));
  for (size_t i = 0; i < shown; ++i) screen.line(rows.op(diff.ops[i]));
  if (diff.ops.size() > shown) {
    screen.line(screen.dim(rows.rest(
        fmt::format("  {} more", with_thousands(static_cast<int64_t>(diff.ops.size() - shown))),
        shown)));
  }
  screen.line(screen.bold(rows.rest("  GPU work", 0)));
  screen.line(screen.bold("Categories"));
  for (size_t i = 0; i < std::min(diff.categories.size(), kTopCategories); ++i)
    screen.line(rows.category(diff.categories[i]));
}

void show_notes(Screen& screen, const DiffReport& report, const TerminalStyle& style) {
  std::vector<SummaryNote> notes;
  for (const std::string& note : diff_notes(report)) notes.push_back({note, false});
  const auto add = [&](std::string_view trace, const Summary& s) {
    for (const SummaryNote& note : summary_notes(s, style.verbose))
      notes.push_back({fmt::format("{}: {}", trace, note.text), note.is_warning});
  };
  add("A", report.a);
  add("B", report.b);
  for (size_t i = 0; i < notes.size(); ++i) {
    screen.entry(i == 0 ? "Notes" : "",
                 notes[i].is_warning ? screen.warn(notes[i].text) : notes[i].text);
  }
}

}  // namespace

std::string diff_text(const DiffReport& report, const TerminalStyle& style) {
  Screen screen(style);
  const Diff& diff = report.diff;
  for (const auto& [label, s] : {std::pair("A", &report.a), std::pair("B", &report.b)}) {
    screen.entry(label, fmt::format("{}   {}", screen_safe(s->trace), summary_headline(*s)));
    if (!s->scope.empty()) screen.entry("", screen_safe(s->scope));
  }
  if (nothing_differs(diff)) {
    screen.entry("Result", report.same_file ? "A and B are the same file: nothing differs"
                                            : "nothing differs");
  } else {
    screen.entry("Units", units_sentence(diff));
    show_timeline(screen, diff);
    wrapped(screen, "Why", timeline_sentence(diff), style.width);
    wrapped(screen, "", ops_sentence(diff, shown_name), style.width);
    if (!diff.ops.empty()) show_ops(screen, diff, style.width);
    if (const std::string kernels = kernels_sentence(diff); !kernels.empty())
      screen.entry("Kernels",
                   kernels + (report.listing.directory.empty() ? "; --out lists them" : ""));
  }
  show_notes(screen, report, style);
  if (const std::string limits = limits_sentence(report, screen_safe); !limits.empty()) {
    screen.entry("Limits", limits);
  }
  if (!report.listing.directory.empty()) {
    screen.entry("Report", report_words(report.listing.directory, report.listing.has_page(),
                                        "diff.md, diff.json, diff_csvs/"));
  }
  return screen.take();
}

}  // namespace fathom
