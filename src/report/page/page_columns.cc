#include "report/page/page_columns.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fathom {
namespace {

class NumberColumn {
 public:
  explicit NumberColumn(size_t events) { bytes_.reserve(events * 2); }

  void add(uint64_t value) {
    for (; value >= 128; value >>= 7) bytes_ += static_cast<char>(value | 128);
    bytes_ += static_cast<char>(value);
  }
  void add_signed(int64_t value) {
    add(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
  }
  void append_to(std::string& out) const {
    const auto size = static_cast<uint32_t>(bytes_.size());
    for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(size >> shift);
    out += bytes_;
  }

 private:
  std::string bytes_;
};

std::string encoded(std::span<const PageEvent> events) {
  std::string out;
  const auto column = [&](auto add) {
    NumberColumn numbers(events.size());
    for (const PageEvent& e : events) add(numbers, e);
    numbers.append_to(out);
  };
  int64_t before = 0;
  const auto after_last = [&before](NumberColumn& to, int64_t value) {
    to.add_signed(value - before);
    before = value;
  };
  column([&](NumberColumn& to, const PageEvent& e) {
    to.add(static_cast<uint64_t>(e.start - before));
    before = e.start;
  });
  column([](NumberColumn& to, const PageEvent& e) { to.add(static_cast<uint64_t>(e.duration)); });
  column([](NumberColumn& to, const PageEvent& e) { to.add(e.name); });
  // Below 128, so that a number is a byte.
  column([](NumberColumn& to, const PageEvent& e) { to.add(e.category); });
  column([](NumberColumn& to, const PageEvent& e) { to.add(e.info); });
  column([](NumberColumn& to, const PageEvent& e) { to.add(e.op); });
  before = 0;
  column([&](NumberColumn& to, const PageEvent& e) { after_last(to, e.link); });
  before = 0;
  column([&](NumberColumn& to, const PageEvent& e) { after_last(to, e.uid); });
  return out;
}

}  // namespace

PageBlocks::Place PageBlocks::add(std::string_view bytes) {
  Place place{text_.size(), 0};
  append_base64(text_, deflater_.deflated(bytes));
  place.length = text_.size() - place.offset;
  return place;
}

std::vector<PageChunk> add_row(PageBlocks& blocks, std::span<const PageEvent> events) {
  std::vector<PageChunk> chunks;
  for (size_t at = 0; at < events.size(); at += kChunkEvents) {
    const auto some = events.subspan(at, std::min(kChunkEvents, events.size() - at));
    PageChunk chunk;
    chunk.events = some.size();
    chunk.begin = some.front().start;
    chunk.end = some.back().start + some.back().duration;
    chunk.place = blocks.add(encoded(some));
    chunks.push_back(chunk);
  }
  return chunks;
}

std::string row_overview(std::span<const PageEvent> events, int64_t length) {
  std::string levels(kOverviewParts, '\0'), categories(kOverviewParts, '\0');
  if (length <= 0) return levels + categories;
  const double part = static_cast<double>(length) / static_cast<double>(kOverviewParts);
  std::array<double, 128> filled{};  // of the part that is being filled, by category
  std::vector<size_t> used;          // its categories
  size_t open = 0;
  const auto finish = [&] {
    if (used.empty()) return;
    double sum = 0;
    size_t most = used.front();
    for (const size_t category : used) {
      sum += filled[category];
      if (filled[category] > filled[most]) most = category;
    }
    for (const size_t category : used) filled[category] = 0;
    used.clear();
    levels[open] = static_cast<char>(std::clamp(std::lround(sum / part * 255), 1L, 255L));
    categories[open] = static_cast<char>(most);
  };
  for (const PageEvent& e : events) {
    const size_t category = std::min<size_t>(e.category, filled.size() - 1);
    double at = static_cast<double>(e.start);
    const double end = at + static_cast<double>(e.duration);
    size_t place = std::min(static_cast<size_t>(at / part), kOverviewParts - 1);
    for (;;) {
      if (place != open) finish();
      open = place;
      if (filled[category] == 0) used.push_back(category);
      const double until =
          place + 1 == kOverviewParts ? end : std::min(end, static_cast<double>(place + 1) * part);
      // An event without a length still decides the colour of an empty part.
      filled[category] += std::max(until - at, 1e-3);
      at = until;
      if (at >= end || place + 1 == kOverviewParts) break;
      ++place;
    }
  }
  finish();
  return levels + categories;
}

}  // namespace fathom
