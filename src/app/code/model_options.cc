#include "app/code/model_options.h"

#include <fmt/format.h>

#include "session/code/known_code.h"
#include "session/counters.h"
#include "session/hardware_summary.h"

namespace fathom {

void add_model_options(CLI::App& command, ModelArguments& arguments) {
  command
      .add_option("--counters", arguments.counters,
                  "Hardware counters of the trace's kernels (ncu CSV or .ncu-rep, rocprof CSV)")
      ->option_text("FILE...");
  command
      .add_option("--repo", arguments.repository,
                  "Repository of the kernels: adds their source locations")
      ->option_text("DIR");
  add_platform_option(command, arguments.platform);
  add_scope_options(command, arguments.scope);
  add_reading_options(command, arguments.reading);
  command.add_flag("-q,--quiet", arguments.reading.quiet, "Print no progress");
}

Result<std::unique_ptr<TraceModel>> open_model(const std::string& trace,
                                               const ModelArguments& arguments,
                                               const Terminal& terminal) {
  OpenedTrace opened;
  for (const std::string& path : arguments.counters) {
    std::optional<CounterFile> file = TRY(open_counters(path));
    if (!file) return Error{fmt::format("{} holds no hardware counters", path)};
    opened.counters.push_back(std::move(*file));
  }
  if (!arguments.platform.empty()) opened.platform = TRY(open_platform(arguments.platform));
  if (!arguments.repository.empty())
    opened.code =
        TRY(read_with_progress(read_code, arguments.repository, arguments.reading, terminal));
  opened.trace = TRY(open_with_progress(trace, arguments.reading, terminal));
  opened.scope = TRY(make_scope(arguments.scope, opened.trace));
  for (CounterFile& file : TRY(open_capture_counters(opened.trace)))
    opened.counters.push_back(std::move(file));
  opened.samples = TRY(open_capture_samples(opened.trace));
  return TraceModel::make(std::move(opened));
}

}  // namespace fathom
