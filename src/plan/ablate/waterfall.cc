#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/ablate/study_report.h"
#include "plan/ablate/time_text.h"
#include "report/svg.h"

namespace fathom::ablate {
namespace {

const char* color_of(WaterfallBar::Kind kind) {
  switch (kind) {
    case WaterfallBar::Kind::kBaseline:
      return "#888";
    case WaterfallBar::Kind::kBetter:
      return "#3a8f4d";
    case WaterfallBar::Kind::kWorse:
      return "#c0504d";
    case WaterfallBar::Kind::kNotKept:
      return "#bbb";
    case WaterfallBar::Kind::kFloor:
      return "#d9a441";
    case WaterfallBar::Kind::kBest:
      break;
  }
  return "#4a7ab5";
}

}  // namespace

std::vector<WaterfallBar> waterfall_bars(const Study& study) {
  using Kind = WaterfallBar::Kind;
  if (!study.baseline || !study.best) return {};
  std::vector<const StudyRow*> way;
  const StudyRow* row = &study.rows[*study.best];
  const StudyRow* baseline = &study.rows[*study.baseline];
  while (row != nullptr && row != baseline && way.size() < kMostVariants) {
    way.push_back(row);
    if (study.suite->has_flags) break;  // combinations do not build on each other
    row = study.parent_of(*row);
  }
  std::ranges::reverse(way);
  double before = baseline->times[0]->median;
  std::vector<WaterfallBar> bars = {
      {baseline->variant->name, time_text(before), 0, before, Kind::kBaseline}};
  for (const StudyRow* step : way) {
    if (!step->times[0]) continue;
    const double after = step->times[0]->median;
    const bool counts = step->decision == Decision::kKept;
    bars.push_back(
        {step->variant->name,
         fmt::format("{} {}", after < before ? "−" : "+", time_text(std::abs(after - before))),
         std::min(before, after), std::max(before, after),
         !counts          ? Kind::kNotKept
         : after < before ? Kind::kBetter
                          : Kind::kWorse});
    before = after;
  }
  const StudyRow& best = study.rows[*study.best];
  bars.push_back(
      {fmt::format("= {}", best.variant->name), time_text(before), 0, before, Kind::kBest});
  if (best.floor) bars.push_back({"floor", time_text(*best.floor), 0, *best.floor, Kind::kFloor});
  return bars;
}

std::string waterfall_svg(const Study& study) {
  const std::vector<WaterfallBar> bars = waterfall_bars(study);
  if (bars.empty()) return {};
  constexpr int kWidth = 720, kBar = 24, kLeft = 150, kSpace = 430;
  std::string out = svg_begin(kWidth, static_cast<int>(bars.size()) * kBar + 44);
  double most = 0, least = bars[0].to;
  for (const WaterfallBar& bar : bars) {
    most = std::max(most, bar.to);
    least = std::min({least, bar.to, bar.from > 0 ? bar.from : least});
  }
  // Of a long ladder the last steps would be lines.
  const bool is_log = most > 10 * least;
  const auto x = [&](double seconds) {
    const double share = !is_log       ? seconds / most
                         : seconds > 0 ? std::log(seconds / least * 2) / std::log(most / least * 2)
                                       : 0;
    return kLeft + share * kSpace;
  };
  const std::string& name = study.suite->cases[0].name;
  out += fmt::format("<text x=\"10\" y=\"20\">{}{}{}</text>\n", svg_safe(study.suite->title, 80),
                     name.empty() ? "" : svg_safe(", " + name, 40), is_log ? " (logarithmic)" : "");
  for (size_t i = 0; i < bars.size(); ++i) {
    const WaterfallBar& bar = bars[i];
    const int top = 32 + static_cast<int>(i) * kBar;
    const double x0 = x(bar.from), x1 = x(bar.to);
    out += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n", kLeft - 8,
                       top + 16, svg_safe(bar.name, 24));
    out += fmt::format("<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n",
                       x0, top + 2, std::max(1.0, x1 - x0), kBar - 4, color_of(bar.kind));
    out += fmt::format("<text x=\"{:.1f}\" y=\"{}\">{}</text>\n", x1 + 6, top + 16, bar.words);
  }
  return out + "</svg>\n";
}

}  // namespace fathom::ablate
