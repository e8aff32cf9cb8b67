#include "report/timeline/timeline_text.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analyze/finding_parts.h"
#include "base/screen_text.h"

namespace fathom {
namespace {

using Tone = TerminalTimeline::Tone;
using TimelineSpan = TerminalTimeline::Span;

constexpr size_t kLabelWidth = 20, kStreamsShown = 8, kThreadsShown = 3, kThreadDepth = 4;

// Colours of the 256 that terminals have; near those of the page.
int idle_colour(IdleCause cause) {
  switch (cause) {
    case IdleCause::kHost:
      return 160;
    case IdleCause::kSynchronization:
      return 214;
    case IdleCause::kCommunication:
      return 202;
    case IdleCause::kDataLoading:
      return 75;
    case IdleCause::kFirstUse:
      return 175;
    case IdleCause::kHostCode:
    case IdleCause::kHostWork:
      return 97;
    default:
      return 246;
  }
}
int span_colour(const TimelineSpan& span) {
  switch (span.tone) {
    case Tone::kIdle:
      return idle_colour(static_cast<IdleCause>(span.words));
    case Tone::kWork:
      return 32;
    case Tone::kCommunication:
      return 208;
    case Tone::kCopy:
      return 117;
    case Tone::kOp:
      return 74;
    case Tone::kCall:
      return 178;
    case Tone::kRange:
      break;
  }
  return 175;
}

// Each event into the first of a few rows that is free when it begins.
void add_rows(TerminalTimeline& timeline, const std::string& label, std::vector<TimelineSpan> spans,
              size_t most_rows) {
  std::ranges::stable_sort(spans, [](const TimelineSpan& x, const TimelineSpan& y) {
    return std::tuple(x.begin, y.end) < std::tuple(y.begin, x.end);
  });
  std::vector<TerminalTimeline::Row> rows;
  for (const TimelineSpan& span : spans) {
    if (span.end < span.begin) continue;
    size_t row = 0;
    while (row < rows.size() && rows[row].spans.back().end > span.begin) ++row;
    if (row == most_rows) continue;
    if (row == rows.size()) rows.push_back({row == 0 ? label : "", {}});
    rows[row].spans.push_back(span);
  }
  for (TerminalTimeline::Row& row : rows) timeline.rows.push_back(std::move(row));
}

template <typename Key>
std::vector<std::pair<size_t, Key>> largest(const std::map<Key, std::vector<TimelineSpan>>& lists,
                                            size_t most, size_t& left_out) {
  std::vector<std::pair<size_t, Key>> order;
  for (const auto& [key, spans] : lists) order.emplace_back(spans.size(), key);
  std::ranges::stable_sort(order, std::greater{}, [](const auto& entry) { return entry.first; });
  left_out += order.size() - std::min(order.size(), most);
  order.resize(std::min(order.size(), most));
  return order;
}

// Shares of cells that spans fill, the colour of most of each, and a letter of a name that has room
// in the cells of its event.
struct TimelineCell {
  double filled = 0, most = 0;
  int colour = 0;
  std::string letter;
};
constexpr std::string_view kIdleWord = "idle: ";
constexpr size_t kNameCells = 8;  // narrower events have no name

// From the cell after the first one, so that neighbours stay apart.
void write_name(std::vector<TimelineCell>& cells, size_t from, size_t to, std::string_view name) {
  std::string_view rest = name;
  for (size_t c = from + 1; c + 1 < to && !rest.empty(); ++c) {
    size_t bytes = 1;
    while (bytes < rest.size() && (static_cast<unsigned char>(rest[bytes]) & 0xC0) == 0x80) ++bytes;
    const bool is_cut = c + 2 >= to && bytes < rest.size();
    cells[c].letter = is_cut ? "…" : std::string(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
}

std::vector<TimelineCell> cells_of(const TerminalTimeline::Row& row, const EventStore& store,
                                   const TimelineWindow& window, size_t columns) {
  std::vector<TimelineCell> cells(columns);
  const double scale = static_cast<double>(columns) /
                       std::max(1.0, static_cast<double>((window.end - window.begin).count));
  const auto column = [&](Nanos time) {
    return static_cast<double>((time - window.begin).count) * scale;
  };
  auto at = std::ranges::partition_point(
      row.spans, [&](const TimelineSpan& span) { return span.end < window.begin; });
  for (; at != row.spans.end() && at->begin < window.end; ++at) {
    const double from = std::max(0.0, column(at->begin));
    const double to = std::min(static_cast<double>(columns), column(at->end));
    for (auto c = static_cast<size_t>(from); c < columns; ++c) {
      const double part =
          std::min(to, static_cast<double>(c + 1)) - std::max(from, static_cast<double>(c));
      TimelineCell& cell = cells[c];
      // What is shorter than any cell is still seen.
      cell.filled += std::max(part, 1e-6);
      if (part >= cell.most) {
        cell.most = part;
        cell.colour = span_colour(*at);
      }
      if (to <= static_cast<double>(c + 1)) break;
    }
    if (to - from < static_cast<double>(kNameCells)) continue;
    // The row says that it is idle.
    const std::string name =
        span_name(*at, store).substr(at->tone == Tone::kIdle ? kIdleWord.size() : 0);
    // Letters that take two cells, or none, would move what follows.
    const auto letters = std::ranges::count_if(name, [](char c) { return (c & '\xC0') != '\x80'; });
    if (screen_width(name) == static_cast<size_t>(letters))
      write_name(cells, static_cast<size_t>(std::ceil(from)), static_cast<size_t>(to), name);
  }
  return cells;
}

std::string row_text(const std::vector<TimelineCell>& cells, bool color) {
  static constexpr std::string_view kFull[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string out;
  std::string open;
  for (const TimelineCell& cell : cells) {
    const auto level = cell.filled <= 0
                           ? size_t{0}
                           : static_cast<size_t>(std::clamp(std::lround(cell.filled * 8), 1L, 8L));
    std::string colour;
    if (!cell.letter.empty())
      colour = fmt::format("38;5;16;48;5;{}", cell.colour);
    else if (level > 0)
      colour = fmt::format("38;5;{}", cell.colour);
    if (color && colour != open) {
      if (!open.empty()) out += "\033[0m";
      if (!colour.empty()) out += "\033[" + colour + "m";
      open = colour;
    }
    out += cell.letter.empty() ? kFull[level] : std::string_view(cell.letter);
  }
  if (color && !open.empty()) out += "\033[0m";
  return out;
}

}  // namespace

TerminalTimeline terminal_timeline(const Assessment& a) {
  const EventStore& store = a.input().store;
  TerminalTimeline timeline;
  for (const DeviceIdle& device : a.idle().devices) {
    TerminalTimeline::Row row{fmt::format("GPU {} idle", device.device.value_or(0)), {}};
    for (const IdleStretch& stretch : device.stretches)
      row.spans.push_back({stretch.when.begin,
                           stretch.when.end,
                           {},
                           static_cast<uint8_t>(stretch.cause),
                           Tone::kIdle});
    if (!row.spans.empty()) timeline.rows.push_back(std::move(row));
  }
  std::map<std::pair<int32_t, int64_t>, std::vector<TimelineSpan>> streams;
  std::map<uint32_t, std::vector<TimelineSpan>> threads;
  std::map<uint32_t, EventId> first;
  for (EventId e(0); e.index < store.size(); ++e.index) {
    const EventKind kind = store.kind(e);
    TimelineSpan span{store.start(e), store.end(e), store.name_id(e), 0, Tone::kWork};
    if (is_gpu_work(kind)) {
      const GpuWork& work = store.gpu_work(e);
      if (a.input().selection.is_communication(e))
        span.tone = Tone::kCommunication;
      else if (kind != EventKind::kKernel)
        span.tone = Tone::kCopy;
      streams[{work.device.value_or(0), work.stream.value_or(0)}].push_back(span);
    } else if (is_host_call(kind) || kind == EventKind::kAnnotation) {
      span.tone = kind == EventKind::kAnnotation ? Tone::kRange
                  : is_launch(kind)              ? Tone::kCall
                                                 : Tone::kOp;
      threads[store.track_id(e).index].push_back(span);
      first.try_emplace(store.track_id(e).index, e);
    }
  }
  for (const auto& [size, key] : largest(streams, kStreamsShown, timeline.left_out))
    add_rows(timeline, fmt::format("GPU {} stream {}", key.first, key.second), streams[key], 2);
  for (const auto& [size, key] : largest(threads, kThreadsShown, timeline.left_out)) {
    const Track& track = store.track(first[key]);
    std::string label(store.text(track.thread_name));
    if (label.empty()) label = fmt::format("thread {}", store.text(track.tid));
    add_rows(timeline, label, threads[key], kThreadDepth);
  }
  timeline.begin = a.base().begin();
  timeline.end = a.base().end();
  if (timeline.end <= timeline.begin) {
    bool is_first = true;
    for (const TerminalTimeline::Row& row : timeline.rows) {
      for (const TimelineSpan& span : row.spans) {
        timeline.begin = is_first ? span.begin : std::min(timeline.begin, span.begin);
        timeline.end = is_first ? span.end : std::max(timeline.end, span.end);
        is_first = false;
      }
    }
  }
  return timeline;
}

const TimelineSpan* span_at(const TerminalTimeline::Row& row, Nanos time) {
  const auto at = std::ranges::partition_point(
      row.spans, [&](const TimelineSpan& span) { return span.end <= time; });
  return at == row.spans.end() ? nullptr : &*at;
}

std::string span_name(const TimelineSpan& span, const EventStore& store) {
  if (span.name.valid()) return screen_safe(store.text(span.name).substr(0, 400));
  std::string words(idle_cause_name(static_cast<IdleCause>(span.words)));
  std::ranges::replace(words, '_', ' ');
  return std::string(kIdleWord) + words;
}

std::string timeline_frame(const TerminalTimeline& timeline, const EventStore& store,
                           const TimelineWindow& window, const TerminalStyle& style) {
  const Screen screen(style);
  const size_t columns = style.width > kLabelWidth + 10 ? style.width - kLabelWidth : size_t{10};
  // Zoomed in, both ends need more digits to differ.
  const Nanos all = timeline.end - timeline.begin, shown = window.end - window.begin;
  const bool is_part = ratio(shown, all) < 0.1;
  const int digits = std::clamp(2 - static_cast<int>(std::floor(std::log10(shown.millis()))), 2, 6);
  const auto time = [&](Nanos at) {
    const Nanos since = at - timeline.begin;
    return is_part ? fmt::format("{:.{}f} ms", since.millis(), digits) : micros_text(since);
  };
  const std::string left = time(window.begin);
  const std::string right = fmt::format("{} ({}of {})", time(window.end),
                                        is_part ? micros_text(shown) + " " : "", micros_text(all));
  const size_t used = screen_width(left) + screen_width(right);
  std::string out = screen.dim(fit_left("", kLabelWidth) + left +
                               std::string(columns > used ? columns - used : 1, ' ') + right) +
                    "\n";
  // The selected row stays in view.
  const size_t room = std::max<size_t>(3, window.height > 6 ? window.height - 6 : 3);
  const size_t top = window.row >= room ? window.row - room + 1 : 0;
  for (size_t r = top; r < std::min(timeline.rows.size(), top + room); ++r) {
    const TerminalTimeline::Row& row = timeline.rows[r];
    const std::string label = fit_left(screen_safe(row.label), kLabelWidth - 3);
    const bool is_selected = window.has_cursor && r == window.row;
    out += is_selected ? screen.bold("> " + label + " ") : "  " + label + " ";
    out += row_text(cells_of(row, store, window, columns), style.color) + "\n";
  }
  if (!window.has_cursor || window.row >= timeline.rows.size()) {
    if (timeline.left_out > 0)
      out += fmt::format("{} more streams and threads\n", timeline.left_out);
    return out;
  }
  const TimelineSpan* span = span_at(timeline.rows[window.row], window.cursor);
  if (span == nullptr) return out + "\nno event follows in this row\n";
  const double share =
      ratio(std::max(span->begin, window.begin) - window.begin, window.end - window.begin);
  const auto column =
      static_cast<size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(columns - 1));
  out += std::string(kLabelWidth + column, ' ') + "^\n";
  out += fit_left(span_name(*span, store), style.width) + "\n";
  return out + fmt::format("{} at {}\n", micros_text(span->end - span->begin), time(span->begin));
}

}  // namespace fathom
