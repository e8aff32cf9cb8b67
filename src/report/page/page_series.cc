#include "report/page/page_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/json_writer.h"
#include "base/utf8.h"

namespace fathom {
namespace {

constexpr size_t kMostSeries = 40, kSeriesParts = 2048, kSeriesName = 120;

struct SeriesPoint {
  int64_t at = 0;
  double value = 0;
};

class SeriesWriter {
 public:
  SeriesWriter(Nanos begin, Nanos end) : begin_(begin), length_((end - begin).count) {}

  void counters(const EventStore& store) {
    std::map<std::pair<uint32_t, uint32_t>, std::vector<SeriesPoint>> found;  // by track, name
    for (const CounterValue& value : store.counters()) {
      // An allocator's instants come from any thread.
      const bool is_memory = store.kind(value.event) == EventKind::kInstant;
      if (!is_memory && store.kind(value.event) != EventKind::kCounter) continue;
      if (!std::isfinite(value.value)) continue;
      const int64_t at = (store.start(value.event) - begin_).count;
      if (at < 0 || at > length_) continue;
      const uint32_t of =
          is_memory ? 0
                    : store.name_id(value.event).index ^ store.track_id(value.event).index << 16;
      std::vector<SeriesPoint>& points = found[{of, value.name.index}];
      if (points.empty())
        names_[&points] = is_memory ? std::string(store.text(value.name).substr(0, kSeriesName))
                                    : name_of(store, value);
      points.push_back({at, value.value});
    }
    for (auto& [key, points] : found) {
      std::ranges::stable_sort(points, {}, &SeriesPoint::at);
      write(names_[&points], points);
    }
  }

  // Launch calls that have returned and whose work has not begun.
  void queues(const Assessment& a) {
    const CallTree& tree = a.input().tree;
    const EventStore& store = a.input().store;
    if (!tree.has_launches() || length_ <= 0) return;
    std::map<int32_t, std::vector<int64_t>> changes;  // of each part of the time, by GPU
    for (const EventId e : tree.linked()) {
      const Nanos launched = store.end(tree.event(tree.launch(e))), begun = store.start(e);
      if (begun <= launched || launched < begin_) continue;
      std::vector<int64_t>& change = changes[store.gpu_work(e).device.value_or(0)];
      if (change.empty()) change.resize(kSeriesParts + 1);
      ++change[part_of((launched - begin_).count)];
      --change[part_of((begun - begin_).count)];
    }
    for (const auto& [device, change] : changes) {
      std::vector<SeriesPoint> points;
      int64_t waiting = 0;
      for (size_t i = 0; i < kSeriesParts; ++i) {
        waiting += change[i];
        if (points.empty() || points.back().value != static_cast<double>(waiting))
          points.push_back({time_of(i), static_cast<double>(waiting)});
      }
      write(fmt::format("GPU {}: launches waiting", device), points);
    }
  }

  std::string take() {
    std::string out = "[";
    for (size_t i = 0; i < written_.size(); ++i) out += (i == 0 ? "" : ",") + written_[i];
    return out + "]";
  }

 private:
  static std::string name_of(const EventStore& store, const CounterValue& value) {
    std::string name(store.name(value.event).substr(0, kSeriesName));
    const std::string_view own = store.text(value.name).substr(0, kSeriesName);
    const bool says_nothing = own == "value";  // source text: how our own recordings call it
    if (own != name && !own.empty() && !says_nothing)
      name += (name.empty() ? "" : ": ") + std::string(own);
    return name;
  }

  size_t part_of(int64_t at) const {
    const double share = static_cast<double>(at) / static_cast<double>(length_);
    return std::min(kSeriesParts, static_cast<size_t>(share * kSeriesParts));
  }
  int64_t time_of(size_t part) const {
    return static_cast<int64_t>(static_cast<double>(length_) * static_cast<double>(part) /
                                kSeriesParts);
  }

  void write(const std::string& name, const std::vector<SeriesPoint>& points) {
    if (written_.size() == kMostSeries || points.empty()) return;
    const auto [least, most] = std::ranges::minmax(points, {}, &SeriesPoint::value);
    JsonWriter json(false);
    json.begin_object().key("name").value(with_unseen_escaped(cut_to_bytes(name, kSeriesName)));
    json.key("points").value(static_cast<int64_t>(points.size()));
    json.key("min").value(least.value).key("max").value(most.value);
    std::vector<int64_t> times;
    std::vector<double> means, peaks;
    for (size_t i = 0; i < points.size();) {
      size_t end = i + 1;
      double sum = points[i].value, peak = points[i].value;
      if (points.size() > kSeriesParts) {
        const size_t part = part_of(points[i].at);
        for (; end < points.size() && part_of(points[end].at) == part; ++end) {
          sum += points[end].value;
          peak = std::max(peak, points[end].value);
        }
      }
      times.push_back(points[i].at);
      means.push_back(sum / static_cast<double>(end - i));
      peaks.push_back(peak);
      i = end;
    }
    json.key("t").begin_array();
    for (const int64_t at : times) json.value(at);
    json.end_array().key("v").begin_array();
    for (const double value : means) json.value(value);
    json.end_array();
    if (points.size() > kSeriesParts) {
      json.key("peak").begin_array();
      for (const double value : peaks) json.value(value);
      json.end_array();
    }
    written_.push_back(json.end_object().take());
  }

  Nanos begin_;
  int64_t length_;
  std::map<const void*, std::string> names_;
  std::vector<std::string> written_;
};

}  // namespace

std::string page_series(const Assessment& assessment, Nanos begin, Nanos end) {
  SeriesWriter writer(begin, end);
  writer.counters(assessment.input().store);
  writer.queues(assessment);
  return writer.take();
}

}  // namespace fathom
