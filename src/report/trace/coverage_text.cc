#include "report/trace/coverage_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/finding_parts.h"

namespace fathom {
namespace {

constexpr double kTold = 0.01, kMostly = 0.5;
constexpr size_t kExampleBytes = 48;

std::string examples_text(const Coverage::Gap& gap, std::string (*safe)(std::string_view)) {
  std::string text;
  for (const std::string& name : gap.examples) {
    const bool cut = name.size() > kExampleBytes;
    text += (text.empty() ? "" : ", ") + safe(name.substr(0, kExampleBytes)) + (cut ? "…" : "");
  }
  return text;
}

// What would help, as the reader can do it.
std::string remedy(const Summary& s, const Coverage::Gap& gap,
                   std::string (*safe)(std::string_view)) {
  switch (gap.reason) {
    case NotAssessed::kPlatform: {
      if (s.fitting_platforms.size() > 1) {
        std::string names;
        for (const std::string& name : s.fitting_platforms)
          names += (names.empty() ? "" : ", ") + name;
        return fmt::format("the GPU may be one of {}: name it with --platform", names);
      }
      return fmt::format("unknown GPU{}: set --platform (list: fathom platforms)",
                         s.gpu.empty() ? "" : fmt::format(" ({})", safe(s.gpu)));
    }
    case NotAssessed::kGraphs:
      return "kernels in graph launches: a trace of the capture names their ops (--capture TRACE)";
    case NotAssessed::kNoOps:
      return s.counters ? "kernels without ops have no cost model; see their counters"
                        : "kernels without ops: give their counters too (fathom analyze TRACE "
                          "COUNTERS), or a PyTorch trace with record_shapes=True";
    case NotAssessed::kNoShapes:
      return "ops without shapes: record with record_shapes=True";
    case NotAssessed::kUnknownOps:
      return fmt::format("no cost model: {}", examples_text(gap, safe));
    case NotAssessed::kUnlinked:
      return "kernels whose launch is not in the file: start the profiler before they are launched";
    case NotAssessed::kCount:
      break;
  }
  return {};
}

}  // namespace

bool mostly_assessed(const Summary& s) { return s.coverage.assessed >= kMostly; }

std::string not_assessed_text(const Summary& s, std::string (*safe)(std::string_view)) {
  if (s.coverage.missing() < kTold) return {};
  std::string reasons;
  const auto told = std::ranges::count_if(
      s.coverage.gaps, [](const Coverage::Gap& gap) { return gap.share >= kTold; });
  for (const Coverage::Gap& gap : s.coverage.gaps) {
    if (gap.share < kTold) continue;
    reasons += fmt::format("{}{}{}", reasons.empty() ? "" : "; ",
                           told > 1 ? percent_text(gap.share) + " " : "", remedy(s, gap, safe));
  }
  return fmt::format("{} of GPU time not assessed{}{}", percent_text(s.coverage.missing()),
                     reasons.empty() ? "" : ": ", reasons);
}

std::string nothing_found_text(const Summary& s) {
  if (s.cpu || s.coverage.missing() < kTold) return "No finding above 1 % of the wall time";
  if (mostly_assessed(s)) {
    return fmt::format("No finding above 1 % of the wall time ({} of GPU time assessed)",
                       percent_text(s.coverage.assessed));
  }
  return s.coverage.assessed < kTold
             ? "No system finding; ops were not assessed"
             : fmt::format("No finding in the {} of GPU time that could be assessed",
                           percent_text(s.coverage.assessed));
}

}  // namespace fathom
