#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <memory>

#include "app/commands.h"
#include "app/output_options.h"
#include "app/scope_options.h"
#include "report/screen_text.h"
#include "session/compare.h"
#include "session/report_place.h"

namespace fathom {
namespace {

constexpr const char* kExamples = R"(Examples:
  fathom diff monday.json.gz friday.json.gz            what differs, on the screen
  fathom diff a.json b.json --out a-b                  diff.md, diff.json and diff_csvs/ in a-b/
  fathom diff a.json b.json --fail-over 3%             exit 1 where B's GPU is busy over 3 % longer
  fathom diff a.json b.json --fail-over 10%:idle       or idle over 10 % longer; also :compute, :total
  fathom diff a.json b.json --steps 2:5                the steps 2, 3 and 4 of both
  fathom diff a.json b.json --json | jq .timeline

Ops are matched by call path, name and shapes. Times are per step where both traces have steps.
Without --out nothing is written.)";

struct DiffArguments {
  std::string a, b, fail_over;
  OutputArguments output;
  ScopeArguments scope;
  bool quiet = false, verbose = false;
  size_t threads = 0;
  uint64_t max_size = 0;
};

// "3%", "2.5", "10%:idle".
struct FailOver {
  double percent = 0;
  std::string_view part = "busy";
};

std::optional<FailOver> parse_fail_over(std::string_view text) {
  FailOver limit;
  if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    limit.part = text.substr(colon + 1);
    text = text.substr(0, colon);
    if (limit.part != "busy" && limit.part != "idle" && limit.part != "total" &&
        limit.part != "compute")
      return {};
  }
  if (text.ends_with('%')) text.remove_suffix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit.percent);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (!whole || !std::isfinite(limit.percent) || limit.percent < 0) return {};
  return limit;
}

class DiffRun {
 public:
  DiffRun(const DiffArguments& arguments, const Terminal& terminal)
      : arguments_(arguments), terminal_(terminal) {}

  ExitCode run() {
    const Result<bool> too_much = compare_both();
    if (too_much.ok()) return too_much.value() ? ExitCode::kFailed : ExitCode::kOk;
    complain(too_much.error().message);
    return ExitCode::kFailed;
  }

 private:
  // Whether B is over the limit.
  Result<bool> compare_both() {
    const bool writes = !arguments_.output.out.empty() && arguments_.output.writes();
    const OutputPlace place = place_of(arguments_.output.out);
    if (writes) TRY(OutputDirectory::check(place));
    const Trace a = TRY(open(arguments_.a));
    const Trace b = TRY(open(arguments_.b));
    DiffReport report = TRY(compare(a, b, make_scope(arguments_.scope)));
    if (writes) tell(TRY(write_diff(report, place)), arguments_.quiet);
    TRY(show(report));
    return is_over_limit(report.diff);
  }

  OutputPlace place_of(const std::string& out) const {
    return {out,
            {"diff",
             fmt::format("{} and {}", subject_of(arguments_.a, out), subject_of(arguments_.b, out)),
             scope_text(make_scope(arguments_.scope), static_cast<int64_t>(arguments_.max_size))},
            arguments_.output.force};
  }

  Result<Trace> open(const std::string& path) const {
    ProgressLine line("reading " + screen_safe(path),
                      terminal_.error_is_terminal && !arguments_.quiet);
    OpenOptions options;
    options.threads = arguments_.threads;
    options.max_size = static_cast<int64_t>(arguments_.max_size);
    options.progress = [&line](double fraction) { line.update(fraction); };
    return open_trace(path, options);
  }

  Status show(const DiffReport& report) const {
    if (arguments_.output.json) return print_output(diff_json(report));
    if (arguments_.quiet) return Nothing{};
    return print_output(diff_text(report, {terminal_.color, arguments_.verbose, terminal_.width}));
  }

  bool is_over_limit(const Diff& diff) const {
    if (arguments_.fail_over.empty()) return false;
    const FailOver limit = *parse_fail_over(arguments_.fail_over);
    for (const TimelineChange& change : timeline_changes(diff)) {
      if (change.name != limit.part || !exceeds(change.time, diff.per, limit.percent)) continue;
      const auto percent = percent_more(change.time, diff.per);
      complain(fmt::format(
          "B's GPU {} time{} is {} above A's, {}, over the limit of {} %", limit.part,
          diff.per.steps ? " per step" : "", time_text(difference(change.time, diff.per)),
          percent ? fmt::format("{:.1f} %", *percent) : "which is none", limit.percent));
      return true;
    }
    return false;
  }

  const DiffArguments& arguments_;
  const Terminal& terminal_;
};

}  // namespace

void add_diff_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command = app.add_subcommand("diff", "Two traces → what differs, and what explains it");
  command->footer(kExamples);
  auto a = std::make_shared<DiffArguments>();
  command->add_option("A", a->a, "A trace (.json, .json.gz, .json.zst), or - for standard input")
      ->required();
  command->add_option("B", a->b, "The trace to compare with it")
      ->required()
      ->check([a](const std::string& text) {
        return text == "-" && a->a == "-" ? std::string("only one trace can be standard input")
                                          : std::string();
      });
  add_output_options(*command, a->output,
                     {"Directory for diff.md, diff.json and diff_csvs/ (default: none is written)",
                      "Print what diff.json holds", "Print only, write nothing (the default)"});
  command
      ->add_option("--fail-over", a->fail_over,
                   "Exit 1 where B's GPU busy time is more than so much above A's (3%)")
      ->check([](const std::string& text) {
        return parse_fail_over(text)
                   ? std::string()
                   : "expected a percentage such as 3% or 3%:idle (busy, idle, compute or total), "
                     "got " +
                         text;
      })
      ->option_text("PERCENT");
  add_scope_options(*command, a->scope);
  command->add_option("--threads", a->threads, "Threads to use (default: as many as help)")
      ->check(CLI::Range(1, 1024))
      ->option_text("N");
  command
      ->add_option("--max-size", a->max_size,
                   "Read at most so much JSON of each (500MB, 20GB); default 64 GiB")
      ->transform(CLI::AsSizeValue(false))
      ->option_text("SIZE");
  command->add_flag("-q,--quiet", a->quiet, "Print nothing but errors and what --json prints");
  command->add_flag("-v,--verbose", a->verbose,
                    "Show every note on the inputs, with its first example");
  command->callback([a, &terminal, &code] {
    code = check_output(a->output) ? DiffRun(*a, terminal).run() : ExitCode::kUsage;
  });
}

}  // namespace fathom
