#include "analyze/ranks/rank_facts.h"

#include <algorithm>

#include "base/ascii.h"

namespace fathom {

std::string rank_part_name(size_t part) {
  switch (part) {
    case part_index(RankPart::kComputation):
      return "computation";
    case part_index(RankPart::kCommunication):
      return "exposed_communication";
    case part_index(RankPart::kCopies):
      return "exposed_copies";
    default:
      break;
  }
  const size_t cause = part - part_index(RankPart::kFirstIdle);
  return "idle_" + std::string(idle_cause_name(static_cast<IdleCause>(cause)));
}

RankParts parts_between(const RankParts& from, const RankParts& to) {
  RankParts parts;
  for (size_t p = 0; p < kRankParts; ++p) parts[p] = to[p] - from[p];
  return parts;
}

Nanos total_of(const RankParts& parts) {
  Nanos total;
  for (const Nanos time : parts) total += time;
  return total;
}

Nanos RankFacts::idle() const {
  Nanos time;
  for (size_t p = part_index(RankPart::kFirstIdle); p < kRankParts; ++p) time += parts[p];
  return time;
}

const std::string& RankFacts::text(TextNumber number) const {
  static const std::string none;
  return number < texts.size() ? texts[number] : none;
}

std::optional<int64_t> number_at_end(std::string_view name) {
  size_t begin = name.size();
  while (begin > 0 && is_digit(name[begin - 1])) --begin;
  if (begin == name.size() || name.size() - begin > 15) return {};
  int64_t number = 0;
  for (const char c : name.substr(begin)) number = number * 10 + (c - '0');
  return number;
}

std::optional<int64_t> rank_in_name(std::string_view path) {
  std::string_view name =
      path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
  // "rank0/trace.json": the folder, where the file has none.
  for (std::string_view text : {name, path.substr(0, path.size() - name.size())}) {
    for (size_t at = text.size(); at-- > 0;) {
      const std::string_view rest = text.substr(at);
      if (rest.size() < 5 || (rest[0] | 32) != 'r' || (rest[1] | 32) != 'a' ||
          (rest[2] | 32) != 'n' || (rest[3] | 32) != 'k')
        continue;
      size_t i = 4;
      while (i < rest.size() &&
             (rest[i] == '-' || rest[i] == '_' || rest[i] == '=' || rest[i] == ' '))
        ++i;
      int64_t number = 0;
      size_t digits = 0;
      for (; i < rest.size() && is_digit(rest[i]) && digits < 10; ++i, ++digits)
        number = number * 10 + (rest[i] - '0');
      if (digits > 0 && digits < 10) return number;
    }
  }
  return {};
}

}  // namespace fathom
