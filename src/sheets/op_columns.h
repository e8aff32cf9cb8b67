#pragma once

#include <string_view>

#include "base/repeat_budget.h"
#include "base/table.h"
#include "events/event_store.h"
#include "sheets/python_literal.h"

namespace fathom {

// What ops_unique_args and unified_perf_summary group by: the same op, called with the same
// arguments on the same kind of thread. Names whatever it was made from, which outlives it.
struct OpKey {
  std::string_view name, category;
  StringId process_name, process_label, thread_name;
  ArgsId args;

  bool operator==(const OpKey&) const = default;
};

struct OpKeyHash {
  size_t operator()(const OpKey& key) const;
};

OpKey op_key(const EventStore& store, EventId op, std::string_view name, std::string_view category);

// The columns of the key, in the known order. A sheet may have only some, with a suffix.
class OpKeyColumns {
 public:
  enum class Part { kAll, kThread, kArgs };
  explicit OpKeyColumns(Table& table, Part part = Part::kAll, std::string_view suffix = "");
  void add(const EventStore& store, const OpKey& key);

 private:
  Column *name_ = nullptr, *category_ = nullptr;
  Column *process_name_ = nullptr, *process_label_ = nullptr, *thread_name_ = nullptr;
  Column *dims_ = nullptr, *types_ = nullptr, *strides_ = nullptr, *concrete_ = nullptr;
  ListsAs lists_;
  RepeatBudget repeats_;
};

// Share of the whole and the running sum of shares.
class PercentColumns {
 public:
  PercentColumns(Table& table, Nanos whole);
  void add(Nanos part);

 private:
  Column &percentage_, &cumulative_;
  Nanos whole_, so_far_;
};

// A JSON field of args as a cell; unknown when the trace has none.
std::optional<std::string> args_cell(const EventStore& store, StringId field, RepeatBudget& repeats,
                                     ListsAs lists = ListsAs::kTuples);
// A text of the trace as a cell.
std::string text_cell(const EventStore& store, StringId text, RepeatBudget& repeats);

// Mean and the like, which are in nanoseconds, in the column's microseconds.
constexpr double nanos_to_micros(double nanos) { return nanos / 1e3; }

}  // namespace fathom
