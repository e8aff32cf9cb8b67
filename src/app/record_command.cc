#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <memory>

#include "app/commands.h"
#include "app/option_rules.h"
#include "app/output_options.h"
#include "report/record_text.h"
#include "session/counter_plan.h"
#include "session/record.h"

extern char** environ;

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRecordExamples = R"(Examples:
  fathom record -- ./my_program --size 4096
  fathom record --torch -- python train.py              PyTorch's ops with their shapes
  fathom record --torch --python-stacks -- python train.py
  fathom record --graph-nodes -- python decode.py       the kernels of CUDA graphs one by one
  fathom record --probe 'engine.scheduler:Scheduler.step(batch.size, len(result))' -- python serve.py
  fathom record --log-pattern 'hit rate: {float}' -- python serve.py
  fathom record --counters=memory -- ./my_program       hardware counters, in a second run
  fathom record --pm-sampling -- python serve.py        how busy the GPU's parts are, over time
  fathom record --pc-sampling -- ./my_program           where kernels stall; build with nvcc -lineinfo
  fathom record --trigger SIGUSR2 --window 10s -- python serve.py    then: kill -USR2 PID

The capture is an input of analyze, diff and convert:
  fathom record --out run.capture -- python train.py
  fathom analyze run.capture

Each process that used the GPU gets a capture: run.capture, run-2.capture and so on. A program that is killed
leaves what it did up to the last quarter of a second (PyTorch's ops are written at its end only).
Output, input, signals and exit code are the program's own. Where the GPU cannot be recorded, the
program runs all the same, and a note says why.)";

constexpr const char* kRecordExitCodes = R"(

Exit codes: the program's own; 126 or 127 where it cannot be started; 1 where the captures cannot be
written; 2 usage error.)";

struct RecordArguments {
  std::vector<std::string> command;
  std::string out, trigger, window;
  bool force = false, json = false, quiet = false, replay = false;
  std::optional<std::string> counters, pm_sampling, pc_sampling;
  bool no_clocks = false;
  bool torch = false, python_stacks = false, graph_nodes = false, allocations = false;
  bool all_calls = false;
  std::vector<std::string> probes, log_patterns;
};

struct NumberWithUnit {
  int64_t number = 0;
  std::string_view unit;
};
std::optional<NumberWithUnit> number_with_unit(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr int64_t kMost = 1'000'000;
  if (error != std::errc() || number <= 0 || number > kMost) return std::nullopt;
  return NumberWithUnit{
      number, std::string_view(end, static_cast<size_t>(text.data() + text.size() - end))};
}

// "20us", "1ms" in nanoseconds: how often the GPU is asked.
std::optional<int64_t> interval_ns(const std::string& text) {
  constexpr int64_t kLeast = 2000, kMost = 1'000'000'000;
  if (text.empty()) return 200'000;
  const std::optional<NumberWithUnit> parsed = number_with_unit(text);
  if (!parsed) return std::nullopt;
  int64_t ns = 0;
  if (parsed->unit == "us") ns = parsed->number * 1000;
  if (parsed->unit == "ms") ns = parsed->number * 1'000'000;
  return ns >= kLeast && ns <= kMost ? std::optional(ns) : std::nullopt;
}

// "10s", "500ms", "2m" in milliseconds; nothing else.
std::optional<int64_t> duration_ms(const std::string& text) {
  const std::optional<NumberWithUnit> parsed = number_with_unit(text);
  if (!parsed) return std::nullopt;
  const auto [number, unit] = *parsed;
  if (unit == "ms") return number;
  if (unit == "s" || unit.empty()) return number * 1000;
  if (unit == "m" || unit == "min") return number * 60'000;
  return std::nullopt;
}

// "65536" → 16; "" → 0, the default. Nothing for what the hardware has not.
std::optional<uint32_t> sampling_exponent(const std::string& cycles) {
  if (cycles.empty()) return 0;
  for (uint32_t exponent = 5; exponent <= 31; ++exponent) {
    if (cycles == std::to_string(uint64_t{1} << exponent)) return exponent;
  }
  return std::nullopt;
}

std::string variable_text(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Beside the program, or where a package would put it.
std::optional<fs::path> recorder_library() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& place : {program, program / "../lib/fathom", program / "../lib"}) {
    const fs::path library = place / "libfathom_record.so";
    if (fs::exists(library, error)) return fs::weakly_canonical(library, error);
  }
  return std::nullopt;
}

// Where toolkits keep CUPTI; a program that has loaded one keeps its own.
std::vector<fs::path> cupti_libraries() {
  std::vector<fs::path> roots;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string root = variable_text(name); !root.empty()) roots.emplace_back(root);
  }
  roots.emplace_back("/usr/local/cuda");
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/usr/local", error)) {
    if (entry.path().filename().string().starts_with("cuda-")) roots.push_back(entry.path());
  }
  std::vector<fs::path> found;
  for (const fs::path& root : roots) {
    for (const char* folder : {"extras/CUPTI/lib64", "lib64", "lib", "targets/x86_64-linux/lib"}) {
      for (const char* name : {"libcupti.so.13", "libcupti.so.12"}) {
        const fs::path path = root / folder / name;
        if (fs::exists(path, error)) found.push_back(path);
      }
    }
  }
  return found;
}

Result<RecordRequest> make_request(const RecordArguments& a) {
  RecordRequest request;
  request.command = a.command;
  for (char** line = environ; *line != nullptr; ++line) request.environment.emplace_back(*line);
  request.out = a.out;
  request.force = a.force;
  request.torch = a.torch || a.python_stacks;
  request.python_stacks = a.python_stacks;
  request.graph_nodes = a.graph_nodes;
  request.allocations = a.allocations;
  request.all_calls = a.all_calls;
  request.probes = a.probes;
  for (const std::string& text : a.log_patterns)
    request.log_patterns.push_back(TRY(LogPattern::parse(text)));
  if (a.counters) {
    const std::string set = a.counters->empty() ? "basic" : *a.counters;
    request.counters = counter_metrics(set).value_or(std::vector<std::string>{});
    request.replay = a.replay;
  }
  if (a.pm_sampling) request.sampling_ns = interval_ns(*a.pm_sampling);
  if (a.pc_sampling) request.pc_sampling = sampling_exponent(*a.pc_sampling);
  request.clocks = !a.no_clocks;
  if (!a.window.empty()) request.window_ms = duration_ms(a.window);
  if (a.trigger == "SIGUSR2")
    request.wait_for_signal = true;
  else
    request.trigger_file = a.trigger;
  const std::optional<fs::path> library = recorder_library();
  if (!library) {
    return Error{
        "libfathom_record.so is not beside the fathom program; build it with ./dev build release"};
  }
  request.library = *library;
  request.cupti = cupti_libraries();
  return request;
}

// The way the program ended is the way we end.
int end_like(int status) {
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  if (!WIFSIGNALED(status)) return 1;
  const rlimit no_core{0, 0};  // the program's own is enough
  setrlimit(RLIMIT_CORE, &no_core);
  signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  return 128 + WTERMSIG(status);
}

int run_record(const RecordArguments& a, const Terminal& terminal) {
  const Result<RecordRequest> request = make_request(a);
  if (!request.ok()) {
    complain(request.error().message);
    return static_cast<int>(ExitCode::kUsage);
  }
  const Result<RecordResult> recorded = record_program(request.value());
  if (!recorded.ok()) {
    complain(recorded.error().message);
    return static_cast<int>(ExitCode::kFailed);
  }
  const RecordResult& result = recorded.value();
  if (result.not_started) {
    complain(fmt::format("cannot run {}: {}", a.command[0], *result.not_started));
    return result.not_found ? 127 : 126;
  }
  tell(result.notes, a.quiet);
  // After the program's own output, and not into it.
  if (a.json) {
    (void)print_output(record_json(result));
  } else if (!a.quiet) {
    std::fputs(record_text(result, terminal.color).c_str(), stderr);
  }
  return end_like(result.status);
}

}  // namespace

void add_record_command(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  CLI::App* command = app.add_subcommand(
      "record", "Run a program and record what it does on the GPU (NVIDIA, through CUPTI)");
  command->footer(std::string(kRecordExamples) + kRecordExitCodes);
  auto a = std::make_shared<RecordArguments>();
  command->add_option("COMMAND", a->command, "The program and its arguments, after --")
      ->required()
      ->option_text("...");
  command->add_option("-o,--out", a->out, "Capture file (default: PROGRAM.capture)")
      ->option_text("FILE");
  command->add_flag("--force", a->force, "Replace FILE even if it is no capture");
  command->add_flag("--torch", a->torch, "Record PyTorch's ops with their shapes");
  command->add_flag("--python-stacks", a->python_stacks,
                    "Record Python's call stacks too; implies --torch");
  command->add_flag("--graph-nodes", a->graph_nodes,
                    "Record the kernels of CUDA graphs one by one, not each graph launch as one");
  command->add_flag("--allocations", a->allocations, "Record GPU memory in use over time");
  command->add_flag("--all-calls", a->all_calls,
                    "Record every CUDA call, also those that only ask (slower)");
  command
      ->add_option("--probe", a->probes,
                   "Record each call of a Python function, with numbers of its arguments or "
                   "result; repeatable")
      ->check([](const std::string& probe) { return probe_mistake(probe).value_or(""); })
      ->allow_extra_args(false)
      ->option_text("MODULE:FUNCTION[(NUMBER,...)]");
  command
      ->add_option(
          "--log-pattern", a->log_patterns,
          "Record numbers of the program's output, such as 'hit rate: {float}'; repeatable")
      ->check([](const std::string& text) {
        const Result<LogPattern> pattern = LogPattern::parse(text);
        return pattern.ok() ? std::string() : pattern.error().message;
      })
      ->allow_extra_args(false)
      ->option_text("TEXT");
  command
      ->add_option("--window", a->window,
                   "Record for this long only, such as 500ms, 10s, 2m; from the start, or from "
                   "each trigger")
      ->check([](const std::string& text) {
        return duration_ms(text) ? std::string() : "expected a time such as 500ms, 10s or 2m";
      })
      ->option_text("TIME");
  command
      ->add_option("--trigger", a->trigger,
                   "Record nothing until fathom gets SIGUSR2, or until FILE appears or is touched")
      ->option_text("SIGUSR2|FILE");
  command
      ->add_option(
          "--counters", a->counters,
          "Count in hardware too, for the kernels with 90 % of the GPU time: basic "
          "(default), memory, stalls, roofline or full. Runs the program twice. Metrics that "
          "need several passes are counted with --replay only")
      ->expected(0, 1)
      ->check([](const std::string& set) {
        return set.empty() || counter_metrics(set) ? std::string()
                                                   : fmt::format("'{}' is no set of counters", set);
      })
      ->option_text("[SET]");
  command->add_flag("--replay", a->replay,
                    "Count all metrics of a launch at once, by running the kernel again; for "
                    "programs whose kernels do not wait for each other");
  command
      ->add_option("--pm-sampling", a->pm_sampling,
                   "Ask the GPU every 200us, or as often as given, how busy its SMs, tensor cores, "
                   "DRAM, PCIe and NVLink are. No kernel waits or runs again")
      ->expected(0, 1)
      ->check([](const std::string& text) {
        return interval_ns(text) ? std::string()
                                 : "expected a time from 2us to 1000ms, such as 20us";
      })
      ->option_text("[TIME]");
  command
      ->add_option(
          "--pc-sampling", a->pc_sampling,
          "Sample which instructions warps are at and why they wait, every so many cycles, "
          "a power of two (default: 65536). Source lines need -lineinfo")
      ->expected(0, 1)
      ->check([](const std::string& cycles) {
        return sampling_exponent(cycles) ? std::string()
                                         : "expected a power of two from 32 to 2147483648";
      })
      ->option_text("[CYCLES]");
  command->add_flag(
      "--no-clocks", a->no_clocks,
      "Do not record clocks, power and temperature of the GPUs (by NVML, every 100 ms)");
  command->add_flag("--json", a->json, "Print the summary as JSON on standard output");
  command->add_flag("-q,--quiet", a->quiet, "Print no summary and no notes");
  command->callback([a, &terminal, &code] {
    if (!a->trigger.empty() && (a->torch || a->python_stacks)) {
      complain(
          "--torch and --python-stacks record from the start; they cannot be used with --trigger");
      code = ExitCode::kUsage;
      return;
    }
    // Seen with CUDA 13.0: to end sampling while a kernel is launched can block both for ever.
    if ((!a->trigger.empty() || !a->window.empty()) && a->pc_sampling) {
      complain("--pc-sampling samples the whole run; it cannot be used with --trigger or --window");
      code = ExitCode::kUsage;
      return;
    }
    if (a->pm_sampling && a->pc_sampling) {
      complain("--pm-sampling and --pc-sampling use the same hardware; record them in two runs");
      code = ExitCode::kUsage;
      return;
    }
    code = static_cast<ExitCode>(run_record(*a, terminal));
  });
}

}  // namespace fathom
