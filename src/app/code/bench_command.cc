#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "app/code/code_commands.h"
#include "app/commands.h"
#include "app/option_rules.h"
#include "app/record_extras.h"
#include "app/this_machine.h"
#include "base/screen_text.h"
#include "doctor/examine.h"
#include "session/code/bench.h"
#include "session/counter_plan.h"

namespace fathom {
namespace {

constexpr const char* kBenchExamples = R"(Examples:
  fathom bench -- ./before -- ./after                two programs, in turn
  fathom bench --runs 30 -- python3 a.py -- python3 b.py
  fathom bench -- ./program --size 1024              one program
  fathom bench --counters=memory -- ./v1 -- ./v2     with hardware counters of the GPU
  fathom bench --json -- ./v1 -- ./v2 | jq .comparisons

Commands are argument lists; no shell reads them. For a pipeline: -- sh -c 'a | b'. A command cannot
hold a lone --. Runs are interleaved (A B B A), after warm-up. Times are medians with a 95 %
confidence interval that assumes no distribution; a ratio is the median of all ratios of a run of one
to a run of the other (Hodges-Lehmann). A difference is reported if it is at least
1 % and the interval of the ratio excludes 1. "No difference" means that this interval lies within 5 %
of 1. With an NVIDIA GPU, each command is also run under fathom record, apart from the timed runs, for
GPU time and kernels.

Exit codes: 0 measured, 1 a command failed or cannot be run, 2 usage error, 130 interrupted.)";

struct BenchArguments {
  std::vector<std::string> words;
  std::string runs = "10", warmup = "1", recorded = "3", limit = "10m";
  std::optional<std::string> counters;
  bool allow_failure = false, no_gpu = false, json = false, quiet = false;
};

std::vector<std::vector<std::string>> split_commands(const std::vector<std::string>& words) {
  std::vector<std::vector<std::string>> commands(1);
  for (const std::string& word : words) {
    if (word == "--")
      commands.emplace_back();
    else
      commands.back().push_back(word);
  }
  return commands;
}

// bench "sleep 0.1" "sleep 0.2": words with spaces and no --, where the first is no program.
bool is_quoted_style(const std::vector<std::vector<std::string>>& commands) {
  if (commands.size() != 1) return false;
  const std::string& first = commands[0][0];
  std::error_code error;
  return first.find(' ') != std::string::npos && !std::filesystem::exists(first, error) &&
         std::ranges::all_of(commands[0], [](const std::string& word) {
           return word.find_first_not_of(' ') != std::string::npos;
         });
}

void show_bench_progress(void* context, int64_t done, int64_t all) {
  if (*static_cast<const bool*>(context)) {
    if (done == all)
      std::fputs("\r\033[K", stderr);
    else
      std::fputs(fmt::format("\rfathom: run {} of {} ", done + 1, all).c_str(), stderr);
  }
}

ExitCode run_bench(const BenchArguments& a, const Terminal& terminal) {
  BenchRequest request;
  request.commands = split_commands(a.words);
  for (const std::vector<std::string>& command : request.commands) {
    if (!command.empty() && !command[0].empty()) continue;
    complain("a command is empty; write fathom bench -- COMMAND A -- COMMAND B");
    return ExitCode::kUsage;
  }
  if (is_quoted_style(request.commands)) {
    std::string joined;
    for (const std::string& word : a.words) joined += (joined.empty() ? "" : " -- ") + word;
    complain(fmt::format("commands are not quoted; write fathom bench -- {}", screen_safe(joined)));
    return ExitCode::kUsage;
  }
  request.environment = this_environment();
  request.runs = std::stoll(a.runs);
  request.warmup = std::stoll(a.warmup);
  request.limit_s = static_cast<double>(duration_ms(a.limit).value_or(600'000)) / 1e3;
  request.allow_failure = a.allow_failure;
  request.program = this_program();
  request.recorded_runs = 0;
  const bool has_gpu = !a.no_gpu && examine(this_machine()).cuda_device_count.value_or(0) > 0;
  if (has_gpu) {
    request.recorded_runs = std::stoll(a.recorded);
    if (a.counters) {
      request.record_options.push_back("--counters=" + counter_set(*a.counters));
      request.record_options.emplace_back("--replay");
    }
  }
  bool shows_progress = terminal.error_is_terminal && !a.quiet;
  Result<BenchResult> measured = bench_commands(request, show_bench_progress, &shows_progress);
  if (!measured.ok()) {
    complain(measured.error().message);
    return ExitCode::kFailed;
  }
  BenchResult result = measured.take();
  if (a.counters && !has_gpu)
    result.notes.emplace_back("no counters: no NVIDIA GPU was found; see fathom doctor");
  const Status printed = print_output(
      a.json ? bench_json(result) : bench_text(result, {terminal.color, false, terminal.width}));
  if (!printed.ok()) complain(printed.error().message);
  if (result.interrupted) {
    complain("interrupted; these are the runs until then");
    return static_cast<ExitCode>(130);
  }
  if (result.failed) complain("a command failed; --allow-failure times it anyway");
  return result.failed || !printed.ok() ? ExitCode::kFailed : ExitCode::kOk;
}

}  // namespace

void add_bench_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command = app.add_subcommand(kBenchCommand.name, kBenchCommand.text);
  command->footer(kBenchExamples);
  auto a = std::make_shared<BenchArguments>();
  command->add_option("COMMANDS", a->words, "Programs with their arguments, each after --")
      ->required()
      ->option_text("...");
  command->add_option("--runs", a->runs, "Timed runs of each command (default: 10)")
      ->check(whole_number({1, 10'000, 20}))
      ->option_text("N");
  command->add_option("--warmup", a->warmup, "Runs of each command before those (default: 1)")
      ->check(whole_number({0, 10'000, 3}))
      ->option_text("N");
  command
      ->add_option("--recorded", a->recorded,
                   "Runs of each command under fathom record, if there is a GPU (default: 3)")
      ->check(whole_number({0, 1000, 5}))
      ->option_text("N");
  command->add_option("--time-limit", a->limit, "End a run after this long (default: 10m)")
      ->check([](const std::string& text) {
        return duration_ms(text) ? std::string() : "expected a time such as 500ms, 10s or 2m";
      })
      ->option_text("TIME");
  command
      ->add_flag("--counters", a->counters,
                 "Collect hardware counters in the recorded runs: basic (default), memory, stalls, "
                 "roofline or full")
      ->check([](const std::string& set) {
        return counter_set(set).empty() ? fmt::format("'{}' is not a counter set", set)
                                        : std::string();
      })
      ->option_text("[=SET]");
  command->add_flag("--allow-failure", a->allow_failure,
                    "Continue if a command fails or reaches its time limit");
  command->add_flag("--no-gpu", a->no_gpu, "Record nothing, even if there is a GPU");
  command->add_flag("--json", a->json, "Print all numbers as JSON on standard output");
  command->add_flag("-q,--quiet", a->quiet, "Print no progress");
  command->callback([a, &terminal, &code] { code = run_bench(*a, terminal); });
}

}  // namespace fathom
