#include "ingest/ncu/reader.h"

#include <fmt/format.h>

#include "base/read_all.h"
#include "ingest/ncu/csv_pages.h"
#include "ingest/ncu/report_file.h"

namespace fathom::ncu {
namespace {

// ncu's own log lines; what other tools of NVIDIA print begins otherwise.
bool is_log_line(std::string_view line) {
  return line.starts_with("==PROF==") || line.starts_with("==ERROR==") ||
         line.starts_with("==WARNING==");
}

std::string why_empty(std::string_view text) {
  if (text.find("ERR_NVGPUCTRPERM") != std::string_view::npos) {
    return "ncu had no permission to read the counters; run it as root, or set "
           "NVreg_RestrictProfilingToAdminUsers=0";
  }
  if (text.find("No kernels were profiled") != std::string_view::npos)
    return "no kernel was profiled; check ncu's filters (-k, -s, -c)";
  return "make them with: ncu --page raw --csv --log-file counters.csv COMMAND";
}

}  // namespace

bool recognises(std::string_view head) {
  if (is_report(head)) return true;
  bool has_log = false;
  const bool is_trace = head.find("\"traceEvents\"") != std::string_view::npos;
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find('\n'));
    if (find_page_header(line) != std::string_view::npos) return true;
    has_log = has_log || is_log_line(line);
    head.remove_prefix(std::min(line.size() + 1, head.size()));
  }
  return has_log && !is_trace;
}

Result<CounterSet> read(ByteSource& source, const std::string& shown) {
  const WholeText whole = TRY(read_all(source, kMaxBytes));
  CounterSetBuilder builder;
  builder.origin().input_bytes = static_cast<int64_t>(whole.text.size());
  is_report(whole.text) ? read_report(whole.text, builder) : read_pages(whole.text, builder);
  if (whole.cut) builder.diagnostics().add(Flaw::kSizeLimit);
  if (whole.truncated) builder.diagnostics().add(Flaw::kTruncated);
  if (builder.size() == 0) {
    return Error{fmt::format("{} has no counters of a kernel: {}", shown,
                             is_report(whole.text) ? "the report holds no result that can be read"
                                                   : why_empty(whole.text))};
  }
  return std::move(builder).seal();
}

}  // namespace fathom::ncu
