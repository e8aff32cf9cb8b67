#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

#include "app/commands.h"
#include "app/option_rules.h"
#include "app/output_options.h"
#include "app/reading_options.h"
#include "app/scope_options.h"
#include "base/closest_names.h"
#include "base/screen_text.h"
#include "session/compare.h"
#include "session/report_place.h"

namespace fathom {
namespace {

constexpr const char* kDiffExamples = R"(Examples:
  fathom diff monday.json.gz friday.json.gz            what differs, on the screen
  fathom diff a.json b.json --out a-b                  diff.md, diff.json and diff_csvs/ in a-b/
  fathom diff a.json b.json --fail-over 3%             exit 1 where B's GPU is busy over 3 % longer
  fathom diff a.json b.json --fail-over 10%:idle       or idle over 10 % longer; also :compute, :total
  fathom diff a.json b.json --steps 2:5                the steps 2, 3 and 4 of both, counted from 0
  fathom diff a.json b.json --steps '#2:#5'            by name: ProfilerStep#2, #3 and #4
  fathom diff a.json b.json --json | jq .timeline

Ops are matched by call path, name and shapes. Times are per step where both traces have steps.
Without --out nothing is written.

Exit codes, as those of diff(1):
  0  compared; with --fail-over, B is within the limit
  1  with --fail-over, B is over the limit
  2  trouble: usage error, a trace that cannot be read, output that cannot be written; with
     --fail-over also a trace that lost data or has no GPU work, and traces without a common op)";

struct DiffArguments {
  std::string a, b, fail_over;
  OutputArguments output;
  ScopeArguments scope;
  ReadingArguments reading;
  bool verbose = false;
};

// "3%", "10%:idle". Without the sign 0.03 could be meant as 3 %.
struct FailOver {
  double percent = 0;
  std::string_view part = "busy";
};

Result<FailOver> parse_fail_over(std::string_view text) {
  static const std::vector<std::string> kParts = {"busy", "idle", "compute", "total"};
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view number = text.substr(0, colon).substr(0, text.substr(0, colon).find('%'));
  const bool has_sign = text.substr(number.size(), colon - number.size()) == "%";
  FailOver limit;
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), limit.percent);
  const bool is_number = error == std::errc() && end == number.data() + number.size() &&
                         std::isfinite(limit.percent) && limit.percent >= 0;
  if (is_number && number.size() == colon)
    return Error{fmt::format("{} has no unit; write {}% for {} percent", number, number, number)};
  if (!is_number || !has_sign) {
    return Error{fmt::format(
        "expected a percentage such as 3% or 3%:idle (busy, idle, compute or total), got {}",
        text)};
  }
  if (colon == text.size()) return limit;
  const auto part = std::ranges::find(kParts, text.substr(colon + 1));
  if (part != kParts.end()) {
    limit.part = *part;
    return limit;
  }
  return Error{fmt::format("'{}' is none of busy, idle, compute, total{}", text.substr(colon + 1),
                           did_you_mean(text.substr(colon + 1), kParts))};
}

std::string lost_data(const Summary& side) {
  std::string text;
  for (const Diagnostic& d : side.diagnostics) {
    const FlawText& flaw = describe(d.flaw);
    if (flaw.severity < Severity::kDataLoss) continue;
    text += fmt::format("{}{}", text.empty() ? "" : "; ", flaw.text);
    if (d.count > 1) text += fmt::format(" ({})", with_thousands(d.count));
  }
  return text;
}

// Why no limit can be checked, or nothing. Less was read of a damaged trace than ran: it would pass
// for a fast one.
std::optional<std::string> reason_for_no_verdict(const DiffReport& report) {
  for (const auto& [name, side] : {std::pair("A", &report.a), std::pair("B", &report.b)}) {
    if (const std::string lost = lost_data(*side); !lost.empty())
      return fmt::format("{} ({}) lost data: {}", name, side->trace, lost);
    if (side->gpu_events == 0) return fmt::format("{} ({}) has no GPU work", name, side->trace);
  }
  const auto in_both = [](const OpChange& op) { return op.a && op.b; };
  if (std::ranges::none_of(report.diff.ops, in_both)) return "A and B have no op in common";
  return {};
}

class DiffRun {
 public:
  DiffRun(const DiffArguments& arguments, const Terminal& terminal)
      : arguments_(arguments), terminal_(terminal) {}

  ExitCode run() {
    const Result<bool> too_much = compare_both();
    if (too_much.ok()) return too_much.value() ? ExitCode::kTooLarge : ExitCode::kOk;
    complain(too_much.error().message);
    return ExitCode::kTrouble;
  }

 private:
  // Whether B is over the limit.
  Result<bool> compare_both() {
    const bool writes = !arguments_.output.out.empty() && arguments_.output.writes();
    const OutputPlace place = place_of(arguments_.output.out);
    if (writes) TRY(OutputDirectory::check(place));
    const Trace a = TRY(open_with_progress(arguments_.a, arguments_.reading, terminal_));
    const Trace b = TRY(open_with_progress(arguments_.b, arguments_.reading, terminal_));
    const Scope scope_a = TRY(make_scope(arguments_.scope, a)),
                scope_b = TRY(make_scope(arguments_.scope, b));
    DiffReport report = TRY(compare(a, b, scope_a, scope_b));
    if (writes)
      tell(TRY(write_diff(report, arguments_.output.writes_page(), place)),
           arguments_.reading.quiet);
    TRY(show(report));
    if (arguments_.fail_over.empty()) return false;
    if (const auto reason = reason_for_no_verdict(report))
      return Error{fmt::format("--fail-over cannot be checked: {}", *reason)};
    return is_over_limit(report.diff);
  }

  OutputPlace place_of(const std::string& out) const {
    return {out,
            {"diff",
             fmt::format("{} and {}", subject_of(arguments_.a, out), subject_of(arguments_.b, out)),
             scope_text(arguments_.scope, arguments_.reading.max_size)},
            arguments_.output.force};
  }

  Status show(const DiffReport& report) const {
    if (arguments_.output.json) return print_output(diff_json(report));
    if (arguments_.reading.quiet) return Nothing{};
    return print_output(diff_text(report, {terminal_.color, arguments_.verbose, terminal_.width}));
  }

  bool is_over_limit(const Diff& diff) const {
    const FailOver limit = parse_fail_over(arguments_.fail_over).take();
    for (const TimelineChange& change : timeline_changes(diff)) {
      if (change.name != limit.part || !exceeds(change.time, diff.per, limit.percent)) continue;
      const auto percent = percent_more(change.time, diff.per);
      complain(fmt::format(
          "regression: B's GPU {} time{} exceeds A's by {} ({}), limit {} %", limit.part,
          diff.per.steps ? " per step" : "", time_text(difference(change.time, diff.per)),
          percent ? fmt::format("{:.1f} %", *percent) : "A has none", limit.percent));
      return true;
    }
    return false;
  }

  const DiffArguments& arguments_;
  const Terminal& terminal_;
};

}  // namespace

void add_diff_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command =
      app.add_subcommand("diff", "Compare two traces: what differs, and which ops explain it");
  command->footer(kDiffExamples);
  auto a = std::make_shared<DiffArguments>();
  command->add_option("A", a->a, "A trace (see fathom analyze --help), or - for standard input")
      ->required();
  command->add_option("B", a->b, "The trace to compare with it")
      ->required()
      ->check([a](const std::string& text) {
        return text == "-" && a->a == "-" ? std::string("only one trace can be standard input")
                                          : std::string();
      });
  add_output_options(
      *command, a->output,
      {"Directory for report.html, diff.md, diff.json and diff_csvs/ (default: no report)",
       "Print what diff.json holds", "Print only, write nothing (the default)"});
  add_page_option(*command, a->output);
  command
      ->add_option("--fail-over", a->fail_over,
                   "Exit 1 if B's GPU busy time exceeds A's by more than this, such as 3%; "
                   "for another time: 3%:idle, 3%:compute or 3%:total")
      ->check([](const std::string& text) {
        const Result<FailOver> limit = parse_fail_over(text);
        return limit.ok() ? std::string() : limit.error().message;
      })
      ->option_text("PERCENT");
  add_scope_options(*command, a->scope);
  add_reading_options(*command, a->reading);
  command->add_flag("-q,--quiet", a->reading.quiet,
                    "Print nothing but errors and what --json prints");
  command->add_flag("-v,--verbose", a->verbose,
                    "Show all notes on the inputs, with the first example of each");
  command->callback([a, &terminal, &code] {
    code = check_output(a->output) ? DiffRun(*a, terminal).run() : ExitCode::kUsage;
  });
}

}  // namespace fathom
