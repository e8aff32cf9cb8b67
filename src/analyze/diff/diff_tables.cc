#include "analyze/diff/time_columns.h"
#include "base/repeat_budget.h"
#include "base/utf8.h"

namespace fathom {
namespace {

constexpr double kNanosPerMicro = 1e3;

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
  TimeColumns times(table, diff.per, TimeColumns::Detail::kExact);
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
  TimeColumns times(table, diff.per, TimeColumns::Detail::kExact);
  RepeatBudget names, shapes;
  const auto once_more = [](RepeatBudget& repeats, size_t op, const std::string& text) {
    return repeats.allows(op, text.size()) ? text
                                           : cut_to_bytes(text, RepeatBudget::kShortenedBytes);
  };
  for (size_t i = 0; i < diff.ops.size(); ++i) {
    for (const KernelChange& kernel : diff.ops[i].kernels) {
      row.add(static_cast<int64_t>(i));
      op_name.add(once_more(names, i, diff.ops[i].name));
      dims.add(once_more(shapes, i, diff.ops[i].side().dims));
      kernel_name.add(kernel.name);
      count_a.add(kernel.count_a);
      count_b.add(kernel.count_b);
      times.add(kernel.time);
    }
  }
  return table;
}

}  // namespace

Table timeline_table(const Diff& diff, TimeColumns::Detail detail) {
  Table table("timeline");
  Column& part = table.text_column("part");
  TimeColumns times(table, diff.per, detail);
  for (const TimelineChange& change : timeline_changes(diff)) {
    part.add(change.name);
    times.add(change.time);
  }
  if (detail == TimeColumns::Detail::kExact) {
    part.add(std::string_view("work of all ops"));
    times.add(diff.work());
  }
  return table;
}

Table counted_table(const std::string& title, const std::string& name, const std::string& counted,
                    const std::vector<CountedChange>& rows, const Divisors& per,
                    TimeColumns::Detail detail) {
  Table table(title);
  Column& names = table.text_column(name);
  Column &count_a = table.count_column("A " + counted),
         &count_b = table.count_column("B " + counted);
  TimeColumns times(table, per, detail);
  for (const CountedChange& row : rows) {
    names.add(row.name);
    count_a.add(row.count_a);
    count_b.add(row.count_b);
    times.add(row.time);
  }
  return table;
}

std::vector<CountedChange> counted_categories(const Diff& diff) {
  std::vector<CountedChange> rows;
  for (const CategoryChange& c : diff.categories) {
    rows.push_back({c.name, c.calls_a, c.calls_b, c.time});
  }
  return rows;
}

std::vector<Table> diff_tables(const Diff& diff) {
  std::vector<Table> tables;
  constexpr auto kExact = TimeColumns::Detail::kExact;
  tables.push_back(timeline_table(diff, kExact));
  tables.push_back(
      counted_table("categories", "category", "calls", counted_categories(diff), diff.per, kExact));
  tables.push_back(ops_table(diff));
  tables.push_back(kernels_table(diff));
  return tables;
}

}  // namespace fathom
