#include "analyze/advice.h"

#include <algorithm>

#include "base/glob.h"
#include "base/tsv.h"

extern const std::string_view advice_tsv;
extern const std::string_view tools_tsv;

namespace fathom {
namespace {

struct Row {
  std::string_view path, about, op, bound;
  std::vector<std::string_view> when;
  std::string_view text;

  // How much the row says of what it is for: more counts before less.
  int tier() const { return op != "*" ? 2 : about != "*" ? 1 : 0; }
};

const std::vector<Row>& rows() {
  static const std::vector<Row> all = [] {
    std::vector<Row> list;
    for (const auto& r : read_tsv(advice_tsv, 6)) {
      Row& row = list.emplace_back(Row{r[0], r[1], r[2], r[3], {}, r[5]});
      if (r[4] != "*") row.when = split(r[4], ',');
    }
    return list;
  }();
  return all;
}

bool fits(const Row& row, std::string_view path, const AdviceQuestion& q) {
  if (row.path != path) return false;
  // Any category: findings that are about no op have rows of their own or nothing to say.
  if (row.about == "*" ? !q.about_op : row.about != q.about) return false;
  if (row.op != "*" && !glob_matches(row.op, q.op)) return false;
  if (row.bound != "*" && row.bound != q.bound) return false;
  return std::ranges::all_of(row.when, [&q](std::string_view trait) {
    return trait.starts_with('!') ? !q.traits.has(trait.substr(1)) : q.traits.has(trait);
  });
}

std::string_view word_of(std::string_view vendor, std::string_view word) {
  static const auto all = read_tsv(tools_tsv, 3);
  std::string_view any_vendor;
  for (const auto& row : all) {
    if (row[1] != word) continue;
    if (row[0] == vendor) return row[2];
    if (row[0] == "*") any_vendor = row[2];
  }
  return any_vendor;
}

// Each {word} as the vendor calls it.
std::string in_words_of(std::string_view vendor, std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t open = text.find('{'), close = text.find('}');
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    out += text.substr(0, open);
    out += word_of(vendor, text.substr(open + 1, close - open - 1));
    text.remove_prefix(close + 1);
  }
  return out += text;
}

std::string say(std::string_view path, const AdviceQuestion& q) {
  int best = -1;
  for (const Row& row : rows()) {
    if (fits(row, path, q)) best = std::max(best, row.tier());
  }
  std::string text;
  for (const Row& row : rows()) {
    if (row.tier() != best || !fits(row, path, q)) continue;
    text += (text.empty() ? "" : " ") + in_words_of(q.vendor, row.text);
  }
  return text;
}

}  // namespace

Advice advice_for(const AdviceQuestion& q) {
  Advice advice{say("code", q), say("kernel", q), say("counters", q)};
  if (!advice.counters.empty()) advice.counters += in_words_of(q.vendor, ", with {profiler}");
  return advice;
}

void advise(const Assessment& a, Finding& f, const Traits& traits) {
  Traits all = traits;
  if (a.uses_pytorch()) all.add("pytorch");
  Advice advice = advice_for({kind_name(f.kind), f.subject, {}, a.vendor(), all, false});
  f.change_code = std::move(advice.change_code);
  f.improve_kernel = std::move(advice.improve_kernel);
  f.counters = std::move(advice.counters);
}

}  // namespace fathom
