#include "session/code/ablate_counters.h"

#include <fmt/format.h>

#include "base/glob.h"
#include "base/text_parts.h"
#include "session/counters.h"
#include "session/trace.h"
#include "sheets/kernel_contexts.h"

namespace fathom::ablate {
namespace {

bool fits_kernel(const std::string& pattern, const std::string& name) {
  if (pattern.empty()) return true;
  if (pattern.find_first_of("*?") == std::string::npos) return holds(name, pattern);
  return glob_matches(pattern, name);
}

Result<Counted> counted_of(const std::filesystem::path& capture, const Suite& suite) {
  const Trace trace = TRY(open_trace(capture.string()));
  TRY(check_has_events(trace));
  const std::vector<CounterFile> files = TRY(open_capture_counters(trace));
  KernelMeasures measures;
  if (!files.empty()) measures.add_counters(trace.store, files);
  Scope scope;
  scope.include_unlinked = true;
  const SheetInput input(trace.store, trace.tree, scope, std::move(measures));
  const Platform* platform = detect_platform(trace);
  Counted counted;
  const auto& gpus = trace.store.metadata().gpus;
  if (!gpus.empty()) counted.gpu = gpus.front().name;
  for (const KernelContext& kernel : launch_contexts(input, platform, kMostContexts)) {
    if (!fits_kernel(suite.counters.kernel, kernel.name)) continue;
    counted.kernel = kernel.name;
    counted.launches = kernel.count;
    counted.kernel_seconds = kernel.value("trace_duration_us").value_or(0) * 1e-6;
    counted.values = kernel.values;
    counted.stalls = kernel.stalls;
    counted.ok = true;
    if (files.empty()) counted.reason = "no counters were recorded, only times";
    if (!kernel.is_trusted) {
      // Counters of another situation test nothing; the times are the capture's own.
      counted.values = {};
      counted.reason = "the counted runs took over twice as long: counters are not used";
    }
    return counted;
  }
  return Error{suite.counters.kernel.empty()
                   ? std::string("no kernel was recorded")
                   : fmt::format("no kernel fits '{}'", suite.counters.kernel)};
}

}  // namespace

std::vector<std::string> record_command(const Suite& suite, const std::filesystem::path& program,
                                        const std::filesystem::path& capture,
                                        const std::vector<std::string>& words) {
  std::vector<std::string> out = {program.string(), "record", "--counters=" + suite.counters.set};
  if (suite.counters.replay) out.emplace_back("--replay");
  out.insert(out.end(), {"--force", "--out", capture.string(), "--"});
  out.insert(out.end(), words.begin(), words.end());
  return out;
}

Counted read_counted(const std::filesystem::path& capture, const Suite& suite) {
  const Result<Counted> read = counted_of(capture, suite);
  if (read.ok()) {
    Counted counted = read.value();
    counted.done = true;
    return counted;
  }
  Counted counted;
  counted.done = true;
  counted.reason = read.error().message;
  return counted;
}

}  // namespace fathom::ablate
