#include "app/together_run.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/code/code_commands.h"
#include "app/commands.h"
#include "session/code/together.h"
#include "session/report_place.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

// A folder's report lies beside it, that of single traces is "ranks.fathom" beside the first.
Result<fs::path> together_directory(const TogetherArguments& a) {
  if (!a.output.out.empty()) return fs::path(a.output.out);
  std::error_code error;
  const fs::path first = a.traces.front();
  fs::path usual = first.parent_path() / "ranks.fathom";
  if (fs::is_directory(first, error)) {
    usual = first.filename().empty() ? first.parent_path() : first;
    if (usual.filename() == "." || usual.filename() == "..") usual = fs::canonical(usual, error);
    usual += ".fathom";
  }
  const DefaultPlace place = TRY(writable_place(usual, a.traces.front()));
  if (!place.why.empty() && !a.reading.quiet)
    complain(fmt::format("{}; the report goes to {}", place.why, place.path.string()));
  return place.path;
}

// Names the first: a list of a thousand traces is no name.
std::string subject(const std::vector<std::string>& traces, const fs::path& directory) {
  const std::string first = subject_of(traces.front(), directory);
  return traces.size() == 1 ? first : fmt::format("{} and {} more", first, traces.size() - 1);
}

}  // namespace

Result<bool> run_together(const TogetherArguments& a, const Terminal& terminal) {
  const std::vector<std::string> traces = TRY(expand_traces(a.traces));
  OutputPlace place;
  if (a.output.writes()) {
    const fs::path directory = TRY(together_directory(a));
    place = {directory,
             {"ranks", subject(a.traces, directory), scope_text(a.scope, a.reading.max_size)},
             a.output.force};
    TRY(OutputDirectory::check(place));
  }
  TogetherOptions options;
  options.threads = a.reading.threads;
  options.max_size = static_cast<int64_t>(a.reading.max_size);
  options.scope = [&a](const Trace& trace) { return make_scope(a.scope, trace); };
  std::optional<Platform> platform;
  if (!a.platform.empty()) {
    platform = TRY(open_platform(a.platform));
    options.platform = &*platform;
  }
  const bool shows_progress = terminal.error_is_terminal && !a.reading.quiet;
  if (shows_progress) {
    options.progress = [](size_t done, size_t all) {
      fmt::print(stderr, "\rReading ranks: {} of {}{}", done, all, done == all ? "\r\033[K" : "");
      std::fflush(stderr);
    };
  }
  const Together together = TRY(analyze_together(traces, options));
  WrittenReport written;
  if (a.output.writes()) {
    written = TRY(write_together(together, a.output.writes_page(), place));
    tell(written.notes, a.reading.quiet);
  }
  std::error_code ignored;
  const bool named = std::ranges::none_of(
      a.traces, [&](const std::string& trace) { return fs::is_directory(trace, ignored); });
  if (named) {
    for (const std::string& message : together.unread) complain(message);
  }
  if (a.output.json) {
    TRY(print_output(ranks_json(together.view(), written.listing)));
  } else if (!a.reading.quiet) {
    TRY(print_output(
        ranks_text(together.view(), {terminal.color, a.verbose, terminal.width}, written.listing)));
  }
  return !named || together.unread.empty();
}

}  // namespace fathom
