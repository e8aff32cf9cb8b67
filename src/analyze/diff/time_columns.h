#pragma once

#include "analyze/diff/diff.h"

namespace fathom {

// The columns of a change: what it is per step where the diff is per step, and, for files, the
// exact totals.
class TimeColumns {
 public:
  enum class Detail : uint8_t { kReadable, kExact };

  TimeColumns(Table& table, const Divisors& per, Detail detail)
      : per_(per),
        unit_(detail == Detail::kExact ? &table.text_column("per") : nullptr),
        a_(table.real_column("A (µs)", Unit::kMicros)),
        b_(table.real_column("B (µs)", Unit::kMicros)),
        difference_(table.real_column("difference (µs)", Unit::kMicros)),
        percent_(table.real_column("difference (%)", Unit::kPercent)),
        total_a_(unit_ != nullptr ? &table.time_column("A total (µs)", Unit::kMicros) : nullptr),
        total_b_(unit_ != nullptr ? &table.time_column("B total (µs)", Unit::kMicros) : nullptr) {}

  void add(const Change& change) {
    constexpr double kNanosPerMicro = 1e3;
    a_.add(divided_a(change.a, per_) / kNanosPerMicro);
    b_.add(divided_b(change.b, per_) / kNanosPerMicro);
    difference_.add(difference(change, per_) / kNanosPerMicro);
    percent_.add(percent_more(change, per_));
    if (unit_ == nullptr) return;
    unit_->add(std::string_view(per_.steps ? "step" : "trace"));
    total_a_->add(change.a);
    total_b_->add(change.b);
  }

 private:
  const Divisors& per_;
  Column* unit_;
  Column &a_, &b_, &difference_, &percent_;
  Column *total_a_, *total_b_;
};

// The parts of the timeline. With exact columns also the work of all ops, in which kernels that run
// at once count each, and which the ops add up to.
Table timeline_table(const Diff& diff, TimeColumns::Detail detail);

// A name with how often it stands in A and in B, and its times: a category, a kernel.
struct CountedChange {
  std::string_view name;
  int64_t count_a, count_b;
  Change time;
};
Table counted_table(const std::string& title, const std::string& name, const std::string& counted,
                    const std::vector<CountedChange>& rows, const Divisors& per,
                    TimeColumns::Detail detail);
std::vector<CountedChange> counted_categories(const Diff& diff);

}  // namespace fathom
