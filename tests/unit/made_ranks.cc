#include "unit/made_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "session/code/together.h"
#include "test_files.h"
#include "unit/small_trace.h"

namespace fathom::test {
namespace {

// The number behind a key, with its place in the text.
struct Number {
  size_t begin = std::string::npos, end = 0;
  double value = 0;
  bool found() const { return begin != std::string::npos; }
};

Number number_behind(std::string_view text, std::string_view key, size_t from = 0) {
  const size_t at = text.find(key, from);
  if (at == std::string_view::npos) return {};
  Number number;
  number.begin = at + key.size();
  number.end = number.begin;
  while (number.end < text.size() &&
         (std::isdigit(static_cast<unsigned char>(text[number.end])) != 0 ||
          text[number.end] == '.' || text[number.end] == '-'))
    ++number.end;
  number.value = std::strtod(
      std::string(text.substr(number.begin, number.end - number.begin)).c_str(), nullptr);
  return number;
}

// Ids of one repetition must not be those of another.
std::string with_other_ids(std::string text, int cycle) {
  for (const std::string_view key :
       {"\"correlation\": ", "\"External id\": ", "\"id\": ", "\"Sequence number\": "}) {
    for (size_t from = 0;;) {
      const Number number = number_behind(text, key, from);
      if (!number.found()) break;
      const std::string value = fmt::format("{:.0f}", number.value + 1'000'000.0 * cycle);
      text.replace(number.begin, number.end - number.begin, value);
      from = number.begin + value.size();
    }
  }
  const Number step = number_behind(text, "ProfilerStep#");
  if (step.found())
    text.replace(step.begin, step.end - step.begin, fmt::format("{:.0f}", step.value + 2 * cycle));
  return text;
}

}  // namespace

RecordedRank::RecordedRank(int number) {
  const auto path = source_dir() / fmt::format("examples/ddp-rank{}-h200.json.gz", number);
  const std::string text = run_command("gzip -dc " + path.string(), source_dir()).output;
  constexpr std::string_view kEvents = "\"traceEvents\": [";
  const size_t events = text.find(kEvents) + kEvents.size();
  const size_t end = text.rfind(']');
  head_ = text.substr(0, events);
  tail_ = text.substr(end);
  double last = 0;
  origin_ = 1e300;
  for (size_t at = events; at < end;) {
    const size_t next = std::min(text.find("\n  {", at + 1), end);
    Piece piece;
    std::string own = text.substr(at, next - at);
    at = next;
    const Number start = number_behind(own, "\"ts\": ");
    if (!start.found()) continue;
    const Number duration = number_behind(own, "\"dur\": ");
    const size_t name = own.find("\"name\": \"") + 9;
    piece.name = own.substr(name, own.find('"', name) - name);
    piece.start = start.value;
    if (duration.found()) {
      piece.duration = duration.value;
      piece.after = own.substr(duration.end);
    } else {
      piece.after = own.substr(start.end);
    }
    piece.before = own.substr(0, start.begin);
    if (piece.name.starts_with("ProfilerStep") &&
        own.find("\"user_annotation\"") != std::string::npos) {
      origin_ = std::min(origin_, piece.start);
      last = std::max(last, piece.start + piece.duration);
    }
    pieces_.push_back(std::move(piece));
  }
  for (Piece& piece : pieces_) piece.start -= origin_;
  period_ = last - origin_ + 200;
}

void RecordedRank::repeat(int times) {
  const std::vector<Piece> once = pieces_;
  for (int cycle = 1; cycle < times; ++cycle) {
    for (Piece piece : once) {
      piece.start += cycle * period_;
      piece.cycle = cycle;
      pieces_.push_back(std::move(piece));
    }
  }
}

void RecordedRank::insert(int cycle, double at_micros, double length_micros) {
  insertions_.push_back({at_micros + cycle * period_, length_micros});
}

void RecordedRank::set_clock(double ahead_micros, double ppm) {
  ahead_ = ahead_micros;
  ppm_ = ppm;
}

double RecordedRank::warped(double time) const {
  double out = time;
  for (const Insertion& i : insertions_) {
    if (time > i.at) out += i.length;
  }
  return out * (1 + ppm_ / 1e6) + ahead_;
}

std::string RecordedRank::json(int64_t rank, int64_t world,
                               const std::function<bool(std::string_view, double)>& keep) const {
  std::string head = head_;
  const Number own = number_behind(head, "\"rank\": ");
  head.replace(own.begin, own.end - own.begin, std::to_string(rank));
  const Number size = number_behind(head, "\"world_size\": ");
  head.replace(size.begin, size.end - size.begin, std::to_string(world));
  std::string out = head;
  bool first = true;
  for (const Piece& piece : pieces_) {
    if (keep && !keep(piece.name, piece.start)) continue;
    const double start = warped(piece.start);
    std::string text = piece.before + fmt::format("{:.3f}", origin_ + start);
    if (piece.duration >= 0)
      text += fmt::format(", \"dur\": {:.3f}",
                          std::max(0.0, warped(piece.start + piece.duration) - start));
    text += piece.after;
    text = with_other_ids(std::move(text), piece.cycle);
    const size_t comma = text.find_last_not_of(" \n");
    if (comma != std::string::npos && text[comma] == ',') text.resize(comma);
    out += (first ? "" : ",") + text;
    first = false;
  }
  return out + tail_;
}

RankFacts facts_of_text(const std::string& json, const std::string& name) {
  EventStore store = read_trace_text(json);
  CallTree tree = build_call_tree(store);
  const Trace trace{name, std::move(store), std::move(tree)};
  return rank_facts_of(trace, Scope{});
}

RankComparison compare(std::vector<RankFacts> ranks) {
  return compare_ranks(std::move(ranks), nullptr);
}

}  // namespace fathom::test
