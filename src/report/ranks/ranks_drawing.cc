#include <fmt/format.h>

#include <algorithm>

#include "analyze/finding_parts.h"
#include "report/ranks/ranks_report.h"
#include "report/svg.h"

namespace fathom {
namespace {

constexpr int kRanksLeft = 90, kRanksWidth = 900, kRow = 16, kRanksTop = 30;
constexpr size_t kMostRanks = 64, kPathPieces = 4000;
constexpr std::string_view kRowColours[] = {"#0072b2", "#d55e00", "#56b4e9"};
constexpr std::string_view kRowWords[] = {"computation", "communication", "copies"};

class RanksDrawing {
 public:
  explicit RanksDrawing(const RankComparison& c) : c_(c) {
    for (uint32_t r = 0; r < c.ranks.size(); ++r) {
      if (!c.ranks[r].strip.columns.empty()) shown_.push_back(r);
    }
    keep_foremost();
    bool first = true;
    for (const uint32_t r : shown_) {
      begin_ = first ? begin_of(r) : std::min(begin_, begin_of(r));
      end_ = first ? end_of(r) : std::max(end_, end_of(r));
      first = false;
    }
  }

  std::string draw() {
    if (shown_.empty() || end_ <= begin_) return {};
    const int bottom = kRanksTop + static_cast<int>(shown_.size()) * kRow;
    out_ = svg_begin(kRanksLeft + kRanksWidth + 20, bottom + 50);
    text(kRanksLeft, 18, c_.clocks.all_aligned() ? "common clock" : "each rank from its own begin");
    int top = kRanksTop;
    for (const uint32_t r : shown_) {
      const bool late = c_.verdict == RankVerdict::kStraggler && r == c_.straggler;
      const auto& rank = c_.ranks[r].rank;
      text(kRanksLeft - 8, top + 12,
           (late ? "late: " : "") +
               (rank ? fmt::format("rank {}", *rank) : svg_safe(c_.ranks[r].trace, 10)),
           "end");
      draw_lane(r, top);
      top += kRow;
    }
    draw_path();
    text(kRanksLeft, bottom + 16, "0");
    text(kRanksLeft + kRanksWidth, bottom + 16, micros_text(end_ - begin_), "end");
    if (shown_.size() < c_.ranks.size())
      text(kRanksLeft + kRanksWidth / 2.0, bottom + 16,
           fmt::format("{} more ranks", c_.ranks.size() - shown_.size()), "middle");
    draw_legend(bottom + 28);
    return out_ + "</svg>\n";
  }

 private:
  // Those that are late most come first where there are too many; drawn by number.
  void keep_foremost() {
    if (shown_.size() <= kMostRanks) return;
    std::ranges::stable_sort(
        shown_, [this](uint32_t x, uint32_t y) { return c_.late[x].late_by > c_.late[y].late_by; });
    shown_.resize(kMostRanks);
    std::ranges::sort(shown_);
  }

  Nanos common(uint32_t r, Nanos own) const {
    return c_.clocks.all_aligned() ? c_.clocks.ranks[r].to_common(own) : own - c_.ranks[r].begin;
  }
  Nanos begin_of(uint32_t r) const { return common(r, c_.ranks[r].begin); }
  Nanos end_of(uint32_t r) const { return common(r, c_.ranks[r].end); }

  double x_of(Nanos time) const {
    return kRanksLeft + std::clamp(ratio(time - begin_, end_ - begin_), 0.0, 1.0) * kRanksWidth;
  }

  void text(double x, double y, std::string_view words, std::string_view anchor = "start") {
    out_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                        anchor, words);
  }

  // Stacked: how much of a column is computation, then communication, then copies.
  void draw_lane(uint32_t r, int top) {
    const auto& columns = c_.ranks[r].strip.columns;
    const double left = x_of(begin_of(r)), right = x_of(end_of(r));
    const double width = (right - left) / static_cast<double>(columns.size());
    std::string path[RankStrip::kRows];
    for (size_t c = 0; c < columns.size(); ++c) {
      double filled = 0;
      for (size_t row = 0; row < RankStrip::kRows; ++row) {
        const double height =
            std::min<double>(columns[c][row], 1.0) * static_cast<double>(kRow - 4);
        if (height < 0.05) continue;
        path[row] += fmt::format("M{:.1f},{:.1f}h{:.2f}v-{:.1f}h-{:.2f}z",
                                 left + static_cast<double>(c) * width, top + kRow - 2 - filled,
                                 width, height, width);
        filled += height;
      }
    }
    for (size_t row = 0; row < RankStrip::kRows; ++row) {
      if (path[row].empty()) continue;
      out_ += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", kRowColours[row], path[row]);
    }
  }

  // From rank to rank, as far as there is room for the changes.
  void draw_path() {
    if (c_.path.segments.empty() || !c_.clocks.all_aligned()) return;
    std::string line;
    size_t pieces = 0;
    const std::vector<RankPathSegment>& all = c_.path.segments;
    for (size_t i = 0; i < all.size() && pieces < kPathPieces;) {
      size_t end = i + 1;
      while (end < all.size() && all[end].rank == all[i].rank) ++end;
      const auto lane = std::ranges::find(shown_, all[i].rank);
      if (lane != shown_.end()) {
        ++pieces;
        const int y = kRanksTop + static_cast<int>(lane - shown_.begin()) * kRow + kRow - 1;
        line += fmt::format("{}{:.1f},{}L{:.1f},{}", line.empty() ? "M" : "L", x_of(all[i].begin),
                            y, x_of(all[end - 1].end), y);
      }
      i = end;
    }
    if (!line.empty())
      out_ +=
          fmt::format("<path class=\"line\" fill=\"none\" stroke-width=\"1.5\" d=\"{}\"/>\n", line);
  }

  void draw_legend(int top) {
    double x = kRanksLeft;
    for (size_t row = 0; row < RankStrip::kRows; ++row) {
      out_ += fmt::format("<rect x=\"{:.0f}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{}\"/>\n",
                          x, top, kRowColours[row]);
      text(x + 14, top + 10, kRowWords[row]);
      x += 34 + 7 * static_cast<double>(kRowWords[row].size());
    }
    if (c_.path.segments.empty() || !c_.clocks.all_aligned()) return;
    out_ += fmt::format("<path class=\"line\" stroke-width=\"1.5\" d=\"M{:.0f},{}h14\"/>\n", x,
                        top + 6);
    text(x + 18, top + 10, "critical path");
  }

  const RankComparison& c_;
  std::vector<uint32_t> shown_;
  Nanos begin_, end_;
  std::string out_;
};

}  // namespace

std::string ranks_drawing(const RankComparison& comparison) {
  return RanksDrawing(comparison).draw();
}

}  // namespace fathom
