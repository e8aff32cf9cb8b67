#include "report/trace/timeline_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/finding_parts.h"
#include "base/ascii.h"
#include "report/svg.h"
#include "story/run/work_labels.h"

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
  const std::string small = small_letters(category);
  for (size_t kind = 0; kind < work_kinds().size(); ++kind) {
    for (const std::string_view begin : work_kinds()[kind].categories) {
      if (small.starts_with(begin)) return kind;
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
      : a_(view.assessment),
        store_(a_.input().store),
        labels_(a_),
        begin_(a_.base().begin()),
        end_(a_.base().end()) {}

  std::string draw() {
    if (end_ <= begin_) return {};
    fill_lanes();
    const bool has_gaps = !a_.idle().devices.empty() && !a_.idle().devices[0].longest.empty();
    const int rows = static_cast<int>(lanes_.size()) + (has_gaps ? 1 : 0);
    const int bottom = kLanesTop + rows * kLane;
    out_ = svg_begin(kPictureWidth, bottom + 24 + kLegendHeight * (has_gaps ? 2 : 1));
    draw_steps(bottom);
    int top = kLanesTop;
    for (const Lane& lane : lanes_) {
      text(kLanesLeft - 8, top + 17,
           fmt::format("GPU {} stream {}", lane.key.first, lane.key.second), "end");
      out_ += lane.coverage.paths(top);
      top += kLane;
    }
    if (has_gaps) draw_gaps(a_.idle().devices[0], top, bottom + 24 + kLegendHeight);
    text(kLanesLeft, bottom + 16, "0");
    text(kPictureWidth - 20, bottom + 16, micros_text(end_ - begin_), "end");
    if (more_streams_ > 0)
      text(kPictureWidth / 2.0, bottom + 16, fmt::format("{} more streams", more_streams_),
           "middle");
    draw_legend(bottom + 24);
    return out_ + "</svg>\n";
  }

 private:
  struct Lane {
    LaneKey key;
    Coverage coverage;
  };

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

  LaneKey lane_of(EventId e) const {
    const GpuWork& work = store_.gpu_work(e);
    return {work.device.value_or(0), work.stream.value_or(0)};
  }

  // The busiest streams: a trace may have thousands.
  void fill_lanes() {
    const std::vector<EventId> events = all_selected(a_.input());
    std::map<LaneKey, Nanos> busy;
    for (const EventId e : events) busy[lane_of(e)] += store_.duration(e);
    std::vector<std::pair<Nanos, LaneKey>> order;
    for (const auto& [key, time] : busy) order.emplace_back(time, key);
    std::ranges::stable_sort(order, [](const auto& x, const auto& y) { return y.first < x.first; });
    more_streams_ = order.size() - std::min(order.size(), kMostLanes);
    order.resize(std::min(order.size(), kMostLanes));
    std::map<LaneKey, size_t> place;
    for (const auto& [time, key] : order) {
      place[key] = lanes_.size();
      lanes_.push_back({key, {}});
    }
    for (const EventId e : events) {
      const auto lane = place.find(lane_of(e));
      if (lane == place.end()) continue;
      lanes_[lane->second].coverage.add(kind_of(e), column(store_.start(e)), column(store_.end(e)));
    }
  }

  void text(double x, double y, std::string_view words, std::string_view anchor = "start") {
    out_ += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                        anchor, words);
  }

  void draw_steps(int bottom) {
    const std::vector<BaseStep>& steps = a_.base().steps;
    if (steps.size() > kMostSteps) {
      text(kLanesLeft, 18, fmt::format("{} steps", steps.size()));
      return;
    }
    const bool has_room = steps.size() <= 8;
    for (const BaseStep& step : steps) {
      if (!step.annotation.valid()) continue;
      const double x = kLanesLeft + column(step.begin) * kColumn;
      out_ += fmt::format(
          "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"8\" x2=\"{0:.1f}\" y2=\"{1}\"/>\n", x, bottom);
      if (has_room) text(x + 4, 18, svg_safe(store_.name(step.annotation), 16));
    }
  }

  // The longest gaps of the first GPU, by what most of each is put down to.
  void draw_gaps(const DeviceIdle& device, int top, int legend) {
    text(kLanesLeft - 8, top + 17, "longest idle", "end");
    static constexpr std::string_view kColours[] = {"#d55e00", "#cc79a7", "#e69f00", "#0072b2"};
    std::map<IdleCause, std::string_view> colours;
    double x = kLanesLeft;
    for (const IdleGap& gap : device.longest) {
      const auto [known, is_new] = colours.try_emplace(gap.cause, "#8c959f");
      if (is_new && colours.size() <= std::size(kColours))
        known->second = kColours[colours.size() - 1];
      const double from = column(gap.gap.begin) * kColumn, to = column(gap.gap.end) * kColumn;
      out_ += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n",
          kLanesLeft + from, top + 10, std::max(1.0, to - from), kLane - 13, known->second);
      if (!is_new) continue;
      std::string words = "idle: " + std::string(idle_cause_name(gap.cause));
      std::ranges::replace(words, '_', ' ');
      add_to_legend(x, legend, known->second, words);
    }
  }

  void add_to_legend(double& x, int top, std::string_view colour, std::string_view words) {
    out_ += fmt::format("<rect x=\"{:.0f}\" y=\"{}\" width=\"10\" height=\"10\" fill=\"{}\"/>\n", x,
                        top, colour);
    text(x + 14, top + 10, words);
    x += 28 + 7 * static_cast<double>(words.size());
  }

  void draw_legend(int top) {
    double x = kLanesLeft;
    for (size_t kind = 0; kind < kKinds; ++kind) {
      const bool is_used =
          std::ranges::any_of(lanes_, [&](const Lane& lane) { return lane.coverage.has(kind); });
      if (!is_used) continue;
      const WorkKind& shown = work_kinds()[kind];
      add_to_legend(x, top, shown.colour, shown.words);
    }
  }

  const Assessment& a_;
  const EventStore& store_;
  WorkLabels labels_;
  Nanos begin_, end_;
  std::vector<Lane> lanes_;  // the busiest first
  size_t more_streams_ = 0;
  std::string out_;
};

}  // namespace

std::string timeline_drawing(const AnalysisView& view) { return TimelineDrawing(view).draw(); }

}  // namespace fathom
