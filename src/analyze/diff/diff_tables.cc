#include "analyze/diff/diff.h"

namespace fathom {
namespace {

constexpr double kNanosPerMicro = 1e3;

// The exact totals, and what they are per step where the diff is per step.
class TimeColumns {
 public:
  TimeColumns(Table& table, const Divisors& per)
      : per_(per),
        unit_(table.text_column("per")),
        a_(table.real_column("A (µs)", Unit::kMicros)),
        b_(table.real_column("B (µs)", Unit::kMicros)),
        difference_(table.real_column("difference (µs)", Unit::kMicros)),
        percent_(table.real_column("difference (%)", Unit::kPercent)),
        total_a_(table.time_column("A total (µs)", Unit::kMicros)),
        total_b_(table.time_column("B total (µs)", Unit::kMicros)) {}

  void add(const Change& change) {
    unit_.add(std::string_view(per_.steps ? "step" : "trace"));
    a_.add(divided_a(change.a, per_) / kNanosPerMicro);
    b_.add(divided_b(change.b, per_) / kNanosPerMicro);
    difference_.add(difference(change, per_) / kNanosPerMicro);
    percent_.add(percent_more(change, per_));
    total_a_.add(change.a);
    total_b_.add(change.b);
  }

 private:
  const Divisors& per_;
  Column &unit_, &a_, &b_, &difference_, &percent_, &total_a_, &total_b_;
};

Table timeline_table(const Diff& diff) {
  Table table("timeline");
  Column& part = table.text_column("part");
  TimeColumns times(table, diff.per);
  for (const TimelineChange& change : timeline_changes(diff)) {
    part.add(change.name);
    times.add(change.time);
  }
  // Kernels that run at once count once in busy and each in the work: that is what ops add up to.
  part.add(std::string_view("work of all ops"));
  times.add(diff.work());
  return table;
}

Table categories_table(const Diff& diff) {
  Table table("categories");
  Column& name = table.text_column("category");
  Column& calls_a = table.count_column("A calls");
  Column& calls_b = table.count_column("B calls");
  TimeColumns times(table, diff.per);
  for (const CategoryChange& category : diff.categories) {
    name.add(category.name);
    calls_a.add(category.calls_a);
    calls_b.add(category.calls_b);
    times.add(category.time);
  }
  return table;
}

class OpSideColumns {
 public:
  OpSideColumns(Table& table, const std::string& side)
      : calls_(table.count_column(side + " calls")),
        category_(table.text_column(side + " category")),
        path_(table.text_column(side + " call path")),
        dims_(table.text_column(side + " Input Dims")),
        types_(table.text_column(side + " Input type")),
        merged_(table.count_column(side + " places merged")) {}

  void add(const std::optional<OpSide>& side) {
    if (!side) {
      for (Column* column : {&calls_, &category_, &path_, &dims_, &types_, &merged_})
        column->add_unknown();
      return;
    }
    calls_.add(side->calls);
    category_.add(side->category);
    path_.add(side->path);
    dims_.add(side->dims);
    types_.add(side->types);
    merged_.add(side->merged);
  }

 private:
  Column &calls_, &category_, &path_, &dims_, &types_, &merged_;
};

Table ops_table(const Diff& diff) {
  Table table("ops");
  Column& number = table.count_column("row");
  Column& name = table.text_column("name");
  Column& change = table.text_column("change");
  Column& matched = table.text_column("matched by");
  TimeColumns times(table, diff.per);
  Column& share = table.real_column("share of changes (%)", Unit::kPercent);
  Column& cumulative = table.real_column("cumulative share of changes (%)", Unit::kPercent);
  Column& by_calls = table.real_column("difference of calls (µs)", Unit::kMicros);
  Column& by_time = table.real_column("difference of time per call (µs)", Unit::kMicros);
  OpSideColumns a(table, "A"), b(table, "B");
  Column& other_kernels = table.text_column("other kernels");
  const Explanation all = explain(diff);
  const double changes = all.more - all.less;
  double so_far = 0;
  for (const OpChange& op : diff.ops) {
    number.add(static_cast<int64_t>(number.size()));
    name.add(op.name);
    change.add(describe(op.kind(diff.per)));
    matched.add(describe(op.matched));
    times.add(op.time());
    const double moved = difference(op.time(), diff.per);
    const double part = changes == 0 ? 0 : (moved < 0 ? -moved : moved) / changes * 100;
    share.add(part);
    cumulative.add(so_far += part);
    if (const auto of_calls = op.difference_of_calls(diff.per)) {
      by_calls.add(*of_calls / kNanosPerMicro);
      by_time.add((moved - *of_calls) / kNanosPerMicro);
    } else {
      by_calls.add_unknown();
      by_time.add_unknown();
    }
    a.add(op.a);
    b.add(op.b);
    other_kernels.add(std::string_view(op.other_kernels ? "True" : "False"));
  }
  return table;
}

Table kernels_table(const Diff& diff) {
  Table table("kernels");
  Column& row = table.count_column("op row");
  Column& op_name = table.text_column("op");
  Column& dims = table.text_column("Input Dims");
  Column& kernel_name = table.text_column("kernel");
  Column& count_a = table.count_column("A kernels");
  Column& count_b = table.count_column("B kernels");
  TimeColumns times(table, diff.per);
  for (size_t i = 0; i < diff.ops.size(); ++i) {
    for (const KernelChange& kernel : diff.ops[i].kernels) {
      row.add(static_cast<int64_t>(i));
      op_name.add(diff.ops[i].name);
      dims.add(diff.ops[i].side().dims);
      kernel_name.add(kernel.name);
      count_a.add(kernel.count_a);
      count_b.add(kernel.count_b);
      times.add(kernel.time);
    }
  }
  return table;
}

}  // namespace

std::vector<Table> diff_tables(const Diff& diff) {
  std::vector<Table> tables;
  tables.push_back(timeline_table(diff));
  tables.push_back(categories_table(diff));
  tables.push_back(ops_table(diff));
  tables.push_back(kernels_table(diff));
  return tables;
}

}  // namespace fathom
