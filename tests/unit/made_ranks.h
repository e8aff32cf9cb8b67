#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analyze/ranks/compare_ranks.h"
#include "analyze/ranks/rank_facts.h"

// Traces of many ranks, made of the recorded ones of examples/ddp-rank*-h200: times are warped, so
// that what was planted is known to the nanosecond.
namespace fathom::test {

// A recording as text with its times apart.
class RecordedRank {
 public:
  // 0 or 1.
  explicit RecordedRank(int number);

  // The same steps so often, one after the other, with their numbers counted on.
  void repeat(int times);
  // Time that passes at a point: later events begin later, open ones last longer. Points count from
  // the first step, in µs, before any insertion; `cycle` is the repetition.
  void insert(int cycle, double at_micros, double length_micros);
  // As a clock shows it that is ahead and runs faster, in µs and parts per million.
  void set_clock(double ahead_micros, double ppm);

  double period() const { return period_; }
  // The trace of a rank; `keep` chooses events by name and begin (µs from the first step).

  std::string json(int64_t rank, int64_t world,
                   const std::function<bool(std::string_view, double)>& keep = {}) const;

 private:
  struct Piece {
    std::string before, after;  // around "ts": …, "dur": …
    std::string name;
    double start = 0, duration = -1;  // µs from the first step; -1: it has none
    int cycle = 0;
  };
  struct Insertion {
    double at, length;
  };
  double warped(double time) const;

  std::string head_, tail_;
  std::vector<Piece> pieces_;
  std::vector<Insertion> insertions_;
  double origin_ = 0, period_ = 0, ahead_ = 0, ppm_ = 0;
};

RankFacts facts_of_text(const std::string& json, const std::string& name);

// Without a trace beside them.
RankComparison compare(std::vector<RankFacts> ranks);

}  // namespace fathom::test
