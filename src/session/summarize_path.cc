#include "session/summarize_path.h"

#include <fmt/format.h>

#include <algorithm>

namespace fathom {

Summary::Path summarize_path(const SheetInput& input, const CriticalPath& path) {
  constexpr size_t kLongest = 10;
  Summary::Path told;
  told.missing = path.missing();
  if (!told.missing.empty()) return told;
  const CriticalGraph& graph = path.graph();
  told.step = path.step_time();
  told.steps = static_cast<int64_t>(graph.steps);
  told.all_steps = static_cast<int64_t>(graph.all_steps);
  told.replay_error_percent = path.replay_error() * 100;
  told.shares = path_shares_text(path.shares());
  const double steps = static_cast<double>(std::max<size_t>(1, graph.steps));
  const auto millis = [&](int64_t time) { return static_cast<double>(time) / 1e6 / steps; };
  const auto percent = [&](int64_t time) { return ratio({time}, {graph.length}) * 100; };
  for (size_t i = 0; i < path.shares().size(); ++i) {
    const int64_t time = path.shares()[i];
    if (time <= 0) continue;
    told.parts.push_back(
        {std::string(path_part_name(static_cast<PathPart>(i))), millis(time), percent(time)});
  }
  std::ranges::stable_sort(told.parts, std::greater{}, &Summary::Path::Part::millis);
  for (const PathRow& row : path.rows()) {
    if (told.longest.size() == kLongest || row.on_path <= 0) break;
    told.longest.push_back({std::string(path_part_name(row.part)),
                            std::string(input.store.text(row.name)), millis(row.on_path),
                            percent(row.on_path)});
  }
  return told;
}

Result<std::vector<Summary::WhatIf>> answer_questions(
    const SheetInput& input, const CriticalPath& path,
    const std::vector<WhatIfQuestion>& questions) {
  std::vector<Summary::WhatIf> told;
  if (questions.empty()) return told;
  if (!path.missing().empty()) {
    return Error{fmt::format("--what-if: the critical path is not known: {}", path.missing())};
  }
  WhatIf asked(input, path);
  for (const WhatIfQuestion& question : questions) {
    const WhatIfAnswer answer = TRY(asked.ask(question));
    told.push_back({answer.question, answer.step, answer.at_least, answer.at_most,
                    path_shares_text(answer.path), static_cast<int64_t>(answer.gpu_events),
                    static_cast<int64_t>(answer.host_segments), answer.saved_at_least,
                    answer.saved_at_most});
  }
  return told;
}

}  // namespace fathom
