#pragma once

#include <cstddef>

namespace fathom {

// How much of the definitions one question looks at: more than any index of real code needs, and
// little enough for hostile ones.
struct IndexWork {
  int depth = 0;
  size_t steps = 0;
};

// Counts how deep definitions are nested while it lives, and how many were looked at in all.
class Deeper {
 public:
  explicit Deeper(IndexWork& work) : work_(work) {
    if (work_.depth++ == 0) work_.steps = 0;
    ++work_.steps;
  }
  ~Deeper() { --work_.depth; }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
  bool too_deep() const { return work_.depth > 200 || work_.steps > 4000; }

 private:
  IndexWork& work_;
};

// Counts how deep code is nested while it lives.
class Deepened {
 public:
  explicit Deepened(int& nesting) : nesting_(nesting) { ++nesting_; }
  ~Deepened() { --nesting_; }
  Deepened(const Deepened&) = delete;
  Deepened& operator=(const Deepened&) = delete;

 private:
  int& nesting_;
};

// Before the divisor in a part's name: its quotient or its remainder. No name has them.
constexpr char kQuotient = '\x01', kRest = '\x02';
constexpr char kEither[] = "\x01\x02";

}  // namespace fathom
