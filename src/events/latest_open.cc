#include "events/latest_open.h"

#include <algorithm>
#include <tuple>

namespace fathom {

LatestOpen::LatestOpen(std::vector<Span> spans) {
  std::erase_if(spans, [](const Span& s) { return s.end <= s.begin; });
  std::ranges::sort(spans, [](const Span& a, const Span& b) {
    return std::tie(a.begin, a.value) < std::tie(b.begin, b.value);
  });
  // Spans that are open or were when another began over them; what is over is dropped when it
  // comes to the top.
  std::vector<Span> open;
  const auto close_until = [&](std::optional<Nanos> time) {
    while (!open.empty() && (!time || open.back().end <= *time)) {
      const Nanos end = open.back().end;
      while (!open.empty() && open.back().end <= end) open.pop_back();
      pieces_.push_back({end, open.empty() ? std::nullopt : std::optional(open.back().value)});
    }
  };
  for (const Span& span : spans) {
    close_until(span.begin);
    open.push_back(span);
    pieces_.push_back({span.begin, span.value});
  }
  close_until({});
}

std::optional<size_t> LatestOpen::at(Nanos time) const {
  const auto later = std::ranges::upper_bound(pieces_, time, {}, &Piece::begin);
  return later == pieces_.begin() ? std::nullopt : std::prev(later)->value;
}

}  // namespace fathom
