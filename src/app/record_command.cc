#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>

#include "app/commands.h"
#include "app/option_rules.h"
#include "app/output_options.h"
#include "app/record_extras.h"
#include "app/record_sampling.h"
#include "app/record_summary.h"
#include "report/record_text.h"
#include "session/counter_plan.h"
#include "session/probe_words.h"
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
  fathom record --probe 'libengine.so:engine::Queue::push' --probe 'c:cudaMalloc(arg2)' -- ./server
  fathom record --log-pattern 'hit rate: {float}' -- python serve.py
  fathom record --counters=memory -- ./my_program       hardware counters, in a second run
  fathom record --ncu=memory -- ./my_program            the same by Nsight Compute
  fathom record --pm-sampling -- python serve.py        how busy the GPU's parts are, over time
  fathom record --pc-sampling -- ./my_program           where kernels stall; build with nvcc -lineinfo
  fathom record --trigger SIGUSR2 --window 10s -- python serve.py    then: kill -USR2 PID
  fathom record --trigger slow --before 5s --window 2s -- python serve.py    then: touch slow
  fathom record --calibrate -- ./my_program             what recording costs this program

The capture is an input of analyze, diff and convert:
  fathom record --out run.capture -- python train.py
  fathom analyze run.capture

Each process that used the GPU gets a capture: run.capture, run-2.capture and so on. A program that is killed
leaves what it did up to the last quarter of a second (PyTorch's ops are written at its end only).
Output, input, signals and exit code are the program's own. If the GPU cannot be recorded, the
program runs anyway, and a note gives the reason.)";

constexpr const char* kRecordExitCodes = R"(

Exit codes: the program's own; 126 or 127 if it cannot be started; 1 if the captures cannot be
written; 2 usage error.)";

struct RecordArguments {
  std::vector<std::string> command;
  std::string out, trigger, window;
  bool force = false, quiet = false, replay = false;
  std::optional<std::string> json, counters;
  bool torch = false, python_stacks = false, graph_nodes = false, allocations = false;
  bool all_calls = false;
  std::vector<std::string> probes, log_patterns;
  SamplingOptions sampling;
  RecordExtras extras;
};

std::string variable_text(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// Beside the program, or where a package would put it.
std::optional<fs::path> library_beside(const char* name) {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& place : {program, program / "../lib/fathom", program / "../lib"}) {
    const fs::path library = place / name;
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
    request.counters =
        counter_metrics(counter_set(*a.counters)).value_or(std::vector<std::string>{});
    request.replay = a.replay;
  }
  put_sampling(a.sampling, request);
  put_extras(a.extras, request);
  if (!a.window.empty()) request.window_ms = duration_ms(a.window);
  if (a.trigger == "SIGUSR2")
    request.wait_for_signal = true;
  else
    request.trigger_file = a.trigger;
  const std::optional<fs::path> library = library_beside("libfathom_record.so");
  if (!library) {
    return Error{
        "libfathom_record.so is not in the folder of fathom; build it with ./dev build release"};
  }
  request.library = *library;
  request.probe_library = library_beside("libfathom_probe.so").value_or(fs::path());
  request.cupti = cupti_libraries();
  request.notes = notes_before(request);
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
  Result<SummaryPlace> opened = SummaryPlace::open(a.json);
  if (!opened.ok()) {
    complain(opened.error().message);
    return static_cast<int>(ExitCode::kUsage);
  }
  SummaryPlace place = opened.take();
  if (a.extras.calibrate) {
    place.use_free_output();
    return run_calibration(a.extras, request.value(), place, terminal);
  }
  const bool tells = !a.quiet && place.leaves_errors_free();
  tell(request.value().notes, !tells);
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
  const auto told = static_cast<ptrdiff_t>(request.value().notes.size());
  tell({result.notes.begin() + told, result.notes.end()}, !tells);
  if (place.shows_text() && !a.quiet)
    std::fputs(record_text(result, terminal.color).c_str(), stderr);
  if (place.is_json()) {
    if (const Status written = place.write(record_json(result)); !written.ok())
      complain(written.error().message);
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
      ->check(own_place())
      ->option_text("FILE");
  command->add_flag("--force", a->force, "Replace FILE even if it is no capture");
  command->add_flag("--torch", a->torch, "Record PyTorch's ops with their shapes");
  command->add_flag("--python-stacks", a->python_stacks,
                    "Record Python's call stacks too; implies --torch");
  command->add_flag("--graph-nodes", a->graph_nodes,
                    "Record the kernels of CUDA graphs one by one, not each graph launch as one");
  command->add_flag("--allocations", a->allocations, "Record GPU memory in use over time");
  command->add_flag("--all-calls", a->all_calls,
                    "Record every CUDA call, including queries (slower)");
  command
      ->add_option("--probe", a->probes,
                   "Record each call of a Python function, with numbers of its arguments or "
                   "result, or of an exported C or C++ function; repeatable")
      ->check([](const std::string& probe) { return probe_mistake(probe).value_or(""); })
      ->allow_extra_args(false)
      ->option_text("MODULE:FUNCTION|LIBRARY.so:SYMBOL|c:SYMBOL[(NUMBER,...)]");
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
      ->add_flag("--counters", a->counters,
                 "Collect hardware counters of the kernels with 90 % of the GPU time: basic "
                 "(default), memory, stalls, roofline or full. Runs the program twice. Metrics "
                 "that need several passes are counted with --replay only")
      ->check(counter_set_mistake)
      ->option_text("[=SET]");
  command->add_flag("--replay", a->replay,
                    "Count all metrics of a launch at once, by running the kernel again; for "
                    "programs whose kernels do not wait for each other");
  add_sampling_options(*command, a->sampling);
  add_record_extras(*command, a->extras);
  command
      ->add_flag("--json", a->json,
                 "Write the summary as JSON: to FILE, to standard output for -, by default to "
                 "standard error. Standard output is the program's")
      ->option_text("[=FILE]");
  command->add_flag("-q,--quiet", a->quiet, "Print no summary and no notes");
  command->callback([a, &terminal, &code] {
    if (!a->trigger.empty() && (a->torch || a->python_stacks)) {
      complain(
          "--torch and --python-stacks record from the start; they cannot be used with --trigger");
      code = ExitCode::kUsage;
      return;
    }
    if (a->trigger.starts_with("SIG") && a->trigger != "SIGUSR2") {
      complain("--trigger takes SIGUSR2 or a file; for a file of this name write ./" + a->trigger);
      code = ExitCode::kUsage;
      return;
    }
    if (a->replay && !a->counters) {
      complain("--replay sets how counters are collected; it needs --counters");
      code = ExitCode::kUsage;
      return;
    }
    const bool is_part = !a->trigger.empty() || !a->window.empty();
    if (const auto mistake = sampling_mistake(a->sampling, is_part)) {
      complain(*mistake);
      code = ExitCode::kUsage;
      return;
    }
    if (const auto mistake =
            extras_mistake(a->extras, !a->trigger.empty(), a->counters.has_value())) {
      complain(*mistake);
      code = ExitCode::kUsage;
      return;
    }
    code = static_cast<ExitCode>(run_record(*a, terminal));
  });
}

}  // namespace fathom
