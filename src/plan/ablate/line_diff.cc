#include "plan/ablate/line_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/count_text.h"

namespace fathom::ablate {
namespace {

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

// The longest common subsequence of two short parts, as pairs of places.
void match_short(const Lines& a, const Lines& b, size_t a0, size_t a1, size_t b0, size_t b1,
                 std::vector<std::pair<size_t, size_t>>& matched) {
  const size_t rows = a1 - a0, columns = b1 - b0;
  std::vector<uint16_t> longest((rows + 1) * (columns + 1), 0);
  const auto at = [&](size_t i, size_t j) -> uint16_t& { return longest[i * (columns + 1) + j]; };
  for (size_t i = rows; i-- > 0;) {
    for (size_t j = columns; j-- > 0;)
      at(i, j) = a[a0 + i] == b[b0 + j] ? static_cast<uint16_t>(at(i + 1, j + 1) + 1)
                                        : std::max(at(i + 1, j), at(i, j + 1));
  }
  for (size_t i = 0, j = 0; i < rows && j < columns;) {
    if (a[a0 + i] == b[b0 + j]) {
      matched.emplace_back(a0 + i++, b0 + j++);
    } else if (at(i + 1, j) >= at(i, j + 1)) {
      ++i;
    } else {
      ++j;
    }
  }
}

// Windows of this many lines are matched at a time, which keeps the cost linear.
constexpr size_t kWindow = 400;

std::vector<std::pair<size_t, size_t>> match_lines(const Lines& a, const Lines& b) {
  std::vector<std::pair<size_t, size_t>> matched;
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i] == b[j]) {
      matched.emplace_back(i++, j++);
      continue;
    }
    const size_t before = matched.size();
    match_short(a, b, i, std::min(i + kWindow, a.size()), j, std::min(j + kWindow, b.size()),
                matched);
    // Little in common near the start only: going on from there would cost a window for few lines.
    if (matched.size() == before || matched.back().first < i + kWindow / 4) {
      i = std::min(i + kWindow, a.size());
      j = std::min(j + kWindow, b.size());
    } else {
      i = matched.back().first + 1;
      j = matched.back().second + 1;
    }
  }
  return matched;
}

}  // namespace

std::string line_diff(std::string_view before, std::string_view after, size_t most_lines) {
  if (before == after) return {};
  const Lines a = lines_of(before), b = lines_of(after);
  std::vector<std::pair<size_t, size_t>> matched = match_lines(a, b);
  matched.emplace_back(a.size(), b.size());
  constexpr size_t kContext = 3;
  struct Line {
    char mark;
    std::string_view text;
  };
  std::vector<Line> out;
  size_t i = 0, j = 0;
  for (const auto& [mi, mj] : matched) {
    for (; i < mi; ++i) out.push_back({'-', a[i]});
    for (; j < mj; ++j) out.push_back({'+', b[j]});
    if (i < a.size()) out.push_back({' ', a[i]});
    ++i, ++j;
  }
  std::vector<bool> shown(out.size(), false);
  for (size_t at = 0; at < out.size(); ++at) {
    if (out[at].mark == ' ') continue;
    for (size_t near = at - std::min(at, kContext); near <= at + kContext && near < out.size();
         ++near)
      shown[near] = true;
  }
  std::string text;
  size_t lines = 0, left_out = 0;
  for (size_t at = 0; at < out.size(); ++at) {
    if (!shown[at]) continue;
    if (lines++ >= most_lines) {
      ++left_out;
      continue;
    }
    if (at > 0 && !shown[at - 1] && !text.empty()) text += "@@\n";
    text += out[at].mark;
    text += out[at].text;
    text += '\n';
  }
  if (left_out > 0)
    text += fmt::format("… {}\n", counted(static_cast<int64_t>(left_out), "more line"));
  return text;
}

}  // namespace fathom::ablate
