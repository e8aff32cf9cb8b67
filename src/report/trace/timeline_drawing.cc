#include "report/trace/timeline_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/finding_parts.h"
#include "report/svg.h"
#include "story/run/work_labels.h"
#include "tree/steps.h"

namespace fathom {
namespace {

constexpr int kLanesLeft = 130, kColumn = 2, kLane = 26, kLanesTop = 30, kLegendHeight = 24;
constexpr size_t kColumns = 400, kMostLanes = 6, kMostSteps = 40;
constexpr int kPictureWidth = kLanesLeft + static_cast<int>(kColumns) * kColumn + 20;

// Colours that colour-blind people tell apart (Okabe and Ito).
struct WorkKind {
  std::string_view words, colour;
  std::vector<std::string_view> categories;  // how their names begin
};
const std::vector<WorkKind>& work_kinds() {
  static const std::vector<WorkKind> kinds = {
      {"matrix products", "#0072b2", {"gemm", "grouped_gemm", "moe", "triton_mm"}},
      {"attention", "#e69f00", {"sdpa", "attention", "inferenceattention"}},
      {"convolutions", "#cc79a7", {"conv"}},
      {"element by element", "#009e73", {"elementwise", "triton", "norm", "softmax", "reduce"}},
      {"communication", "#d55e00", {}},
      {"copies and fills", "#56b4e9", {"memcpy", "memset"}},
      {"other", "#8c959f", {}},
  };
  return kinds;
}
constexpr size_t kCommunicationKind = 4, kCopyKind = 5, kOtherKind = 6, kKinds = 7;

size_t kind_of_category(std::string_view category) {
  std::string lower(category);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  for (size_t kind = 0; kind < work_kinds().size(); ++kind) {
    for (const std::string_view begin : work_kinds()[kind].categories) {
      if (lower.starts_with(begin)) return kind;
    }
  }
  return kOtherKind;
}

// How much of each column some kinds of work fill. An event costs the same however long it is.
class Coverage {
 public:
  Coverage() : whole_(kKinds), part_(kKinds) {
    for (auto& columns : whole_) columns.resize(kColumns + 1);
    for (auto& columns : part_) columns.resize(kColumns);
  }

  // In columns from the left edge, begin <= end.
  void add(size_t kind, double begin, double end) {
    begin = std::clamp(begin, 0.0, static_cast<double>(kColumns));
    end = std::clamp(end, begin, static_cast<double>(kColumns));
    const auto first = static_cast<size_t>(begin), last = static_cast<size_t>(end);
    if (first == last) {
      if (first < kColumns) part_[kind][first] += end - begin;
      return;
    }
    part_[kind][first] += static_cast<double>(first + 1) - begin;
    if (last < kColumns) part_[kind][last] += end - static_cast<double>(last);
    whole_[kind][first + 1] += 1;
    whole_[kind][last] -= 1;
  }

  // A path for each kind that has something to show: bars whose height is how full a column is.
  std::string paths(int top) const {
    std::vector<std::vector<double>> filled(kKinds, std::vector<double>(kColumns));
    for (size_t kind = 0; kind < kKinds; ++kind) {
      double open = 0;
      for (size_t c = 0; c < kColumns; ++c) {
        open += whole_[kind][c];
        filled[kind][c] = open + part_[kind][c];
      }
    }
    std::vector<std::string> path(kKinds);
    for (size_t c = 0; c < kColumns; ++c) {
      size_t longest = 0;
      double all = 0;
      for (size_t kind = 0; kind < kKinds; ++kind) {
        all += filled[kind][c];
        if (filled[kind][c] > filled[longest][c]) longest = kind;
      }
      const int height = static_cast<int>(std::ceil(std::min(all, 1.0) * (kLane - 6)));
      if (height == 0) continue;
      path[longest] += fmt::format("M{},{}h{}v{}h-{}z", kLanesLeft + static_cast<int>(c) * kColumn,
                                   top + kLane - 3, kColumn, -height, kColumn);
    }
    std::string out;
    for (size_t kind = 0; kind < kKinds; ++kind) {
      if (path[kind].empty()) continue;
      out += fmt::format("<path fill=\"{}\" d=\"{}\"/>\n", work_kinds()[kind].colour, path[kind]);
    }
    return out;
  }

  bool has(size_t kind) const {
    const auto is_set = [](double value) { return value != 0; };
    return std::ranges::any_of(part_[kind], is_set) || std::ranges::any_of(whole_[kind], is_set);
  }

 private:
  std::vector<std::vector<double>> whole_, part_;  // whole_: how many begin and end at a column
};

using LaneKey = std::pair<int32_t, int64_t>;  // device, stream

class TimelineDrawing {
 public:
  explicit TimelineDrawing(const AnalysisView& view)
      : a_(view.assessment), store_(a_.input().store), labels_(a_) {
    events_ = all_selected(a_.input());
    for (const EventId e : events_) {
      begin_ = std::min(begin_, store_.start(e));
      end_ = std::max(end_, store_.end(e));
    }
    for (const Step& step : steps_of(view)) {
      begin_ = std::min(begin_, step.begin);
      end_ = std::max(end_, step.end);
    }
  }

  std::string draw() {
    if (events_.empty() || end_ <= begin_) return {};
    fill_lanes();
    std::vector<std::pair<LaneKey, Lane*>> order;
    for (auto& [key, lane] : lanes_) order.emplace_back(key, &lane);
    std::ranges::stable_sort(
        order, [](const auto& x, const auto& y) { return x.second->busy > y.second->busy; });
    const size_t shown = std::min(order.size(), kMostLanes);
    const int bottom = kLanesTop + static_cast<int>(shown) * kLane;
    out_ = svg_begin(kPictureWidth, bottom + 24 + kLegendHeight);
    draw_steps(bottom);
    for (size_t i = 0; i < shown; ++i) {
      const int top = kLanesTop + static_cast<int>(i) * kLane;
      text(kLanesLeft - 8, top + 17, lane_name(order[i].first), "end");
      out_ += order[i].second->coverage.paths(top);
    }
    text(kLanesLeft, bottom + 16, "0");
    text(kPictureWidth - 20, bottom + 16, micros_text(end_ - begin_), "end");
    if (order.size() > shown)
      text(kPictureWidth / 2.0, bottom + 16, fmt::format("{} more streams", order.size() - shown),
           "middle");
    draw_legend(bottom + 24);
    return out_ + "</svg>\n";
  }

 private:
  struct Lane {
    Nanos busy;
    Coverage coverage;
  };

  const std::vector<Step>& steps_of(const AnalysisView& view) {
    if (view.summary.steps.empty()) return steps_;
    steps_ = Steps(store_, kProfilerSteps).all();
    return steps_;
  }

  double column(Nanos time) const {
    return static_cast<double>((time - begin_).count) / static_cast<double>((end_ - begin_).count) *
           static_cast<double>(kColumns);
  }

  size_t kind_of(EventId e) const {
    if (a_.input().selection.is_communication(e)) return kCommunicationKind;
    if (store_.kind(e) != EventKind::kKernel) return kCopyKind;
    const AssessedOp* op = labels_.op(e);
    return op == nullptr ? kOtherKind : kind_of_category(op->category);
  }

  void fill_lanes() {
    for (const EventId e : events_) {
      const GpuWork& work = store_.gpu_work(e);
      Lane& lane = lanes_[{work.device.value_or(0), work.stream.value_or(0)}];
      lane.busy += store_.duration(e);
      lane.coverage.add(kind_of(e), column(store_.start(e)), column(store_.end(e)));
    }
  }

  static std::string lane_name(const LaneKey& key) {
    return fmt::format("GPU {} stream {}", key.first, key.second);
  }

  void text(double x, double y, std::string_view words, std::string_view anchor = "start") {
    out_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                        anchor, words);
  }

  void draw_steps(int bottom) {
    if (steps_.size() > kMostSteps) {
      text(kLanesLeft, 18, fmt::format("{} steps", steps_.size()));
      return;
    }
    const bool has_room = steps_.size() <= 10;
    for (size_t i = 0; i < steps_.size(); ++i) {
      const double x = kLanesLeft + column(steps_[i].begin) * kColumn;
      out_ += fmt::format(
          "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"8\" x2=\"{0:.1f}\" y2=\"{1}\"/>\n", x, bottom);
      if (has_room) text(x + 4, 18, svg_safe(store_.name(steps_[i].annotation), 24));
    }
  }

  void draw_legend(int top) {
    double x = kLanesLeft;
    for (size_t kind = 0; kind < kKinds; ++kind) {
      const bool is_used = std::ranges::any_of(
          lanes_, [&](const auto& lane) { return lane.second.coverage.has(kind); });
      if (!is_used) continue;
      const WorkKind& shown = work_kinds()[kind];
      out_ += fmt::format("<rect x=\"{:.0f}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{}\"/>\n",
                          x, top, shown.colour);
      text(x + 14, top + 10, shown.words);
      x += 28 + 7 * static_cast<double>(shown.words.size());
    }
  }

  const Assessment& a_;
  const EventStore& store_;
  WorkLabels labels_;
  std::vector<EventId> events_;
  std::vector<Step> steps_;
  std::map<LaneKey, Lane> lanes_;
  Nanos begin_{INT64_MAX}, end_{INT64_MIN};
  std::string out_;
};

}  // namespace

std::string timeline_drawing(const AnalysisView& view) { return TimelineDrawing(view).draw(); }

}  // namespace fathom
