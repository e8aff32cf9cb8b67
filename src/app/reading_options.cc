#include "app/reading_options.h"

#include <fmt/format.h>

#include "app/commands.h"
#include "app/option_rules.h"
#include "base/screen_text.h"

namespace fathom {
namespace {

// Hundredths are enough for a bar, each once.
class ProgressLines {
 public:
  void update(double fraction) {
    const int now = static_cast<int>(fraction * 100);
    if (fraction < 0 || now == last_) return;
    last_ = now;
    (void)print_output(fmt::format("reading {}\n", now / 100.0));
  }

 private:
  int last_ = -1;
};

}  // namespace

void add_reading_options(CLI::App& command, ReadingArguments& arguments) {
  command.add_option("--threads", arguments.threads, "Threads (default: all cores)")
      ->transform(whole_number(kThreadCounts))
      ->option_text("N");
  command
      .add_option("--max-size", arguments.max_size,
                  "Read at most this much of a trace, decompressed, such as 500MB or 20GB "
                  "(default: 64 GiB of a Chrome trace, 8 GiB of other text)")
      ->transform(byte_size())
      ->option_text("SIZE");
}

void add_platform_option(CLI::App& command, std::string& platform) {
  command
      .add_option("--platform", platform,
                  "GPU to compute limits for: a name from 'fathom platforms', or a file "
                  "(default: the trace's)")
      ->check([](const std::string& name) {
        return name.empty() ? std::string("expected a name or a file") : std::string();
      })
      ->option_text("NAME|FILE");
}

Result<Trace> open_with_progress(const std::string& path, const ReadingArguments& arguments,
                                 const Terminal& terminal, OpenOptions options) {
  ProgressLine line("reading " + screen_safe(path), terminal.error_is_terminal && !arguments.quiet);
  options.threads = arguments.threads;
  options.max_size = static_cast<int64_t>(arguments.max_size);
  ProgressLines lines;
  options.progress = [&](double fraction) {
    if (arguments.progress_lines) lines.update(fraction);
    line.update(fraction);
  };
  Result<Trace> trace = open_trace(path, options);
  if (arguments.progress_lines) (void)print_output("analyzing\n");
  return trace;
}

Result<std::unique_ptr<const KnownCode>> read_with_progress(const CodeReader& read,
                                                            const std::string& repository,
                                                            const ReadingArguments& arguments,
                                                            const Terminal& terminal) {
  ProgressLine line("scanning " + screen_safe(repository),
                    terminal.error_is_terminal && !arguments.quiet);
  return read(repository, arguments.threads, [&line](double fraction) { line.update(fraction); });
}

}  // namespace fathom
