#include "session/code/command_output.h"

#include <algorithm>
#include <vector>

#include "trial/statistics.h"

namespace fathom::ablate {
namespace {

// "a.cc:3:1: error: …": what a compiler says first is the cause, what make says last is not.
std::string first_error_line(std::string_view text) {
  const size_t at = text.find("error");
  if (at == std::string_view::npos) return "";
  const size_t start = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  return last_line(text.substr(start, text.find('\n', at) - start));
}

// Each line with the numbers that fit.
template <class Visit>
void for_each_match(const LogPattern& pattern, std::string_view output, const Visit& visit) {
  for (size_t start = 0; start < output.size();) {
    const size_t end = std::min(output.find('\n', start), output.size());
    for (const LogPattern::Found& found : pattern.match(output.substr(start, end - start)))
      visit(start, found);
    start = end + 1;
  }
}

}  // namespace

std::string last_line(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  const size_t start = text.rfind('\n');
  return std::string(text.substr(start == std::string_view::npos ? 0 : start + 1).substr(0, 300));
}

std::string end_reason(const TrialEnd& end, double limit_s, std::string_view output) {
  std::string line = last_line(output);
  const std::string error = first_error_line(output);
  if (!error.empty() && error != line) line = error + "; last line: " + line;
  return end_text(end, limit_s) + (line.empty() ? "" : ": " + line);
}

std::optional<double> printed_number(const LogPattern& pattern, std::string_view output) {
  std::vector<double> values;
  for_each_match(pattern, output,
                 [&](size_t, const LogPattern::Found& found) { values.push_back(found.value); });
  if (values.empty()) return std::nullopt;
  std::ranges::sort(values);
  return quantile(values, 0.5);
}

Result<std::string> without_times(std::string output, const Timing& timing) {
  for (const std::string* text : {&timing.pattern, &timing.second_pattern}) {
    if (text->empty()) continue;
    const LogPattern pattern = TRY(LogPattern::parse(*text));
    std::vector<std::pair<size_t, size_t>> times;
    for_each_match(pattern, output, [&](size_t start, const LogPattern::Found& found) {
      times.emplace_back(start + found.begin, start + found.end);
    });
    for (const auto& [begin, end] : times)
      std::fill(output.begin() + static_cast<std::ptrdiff_t>(begin),
                output.begin() + static_cast<std::ptrdiff_t>(end), '~');
  }
  return output;
}

}  // namespace fathom::ablate
