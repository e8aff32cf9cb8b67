#include "sheets/cpu_ops.h"

#include <algorithm>
#include <map>

#include "sheets/op_columns.h"

namespace fathom {
namespace {

bool is_op(const SheetInput& input, CallId call) {
  return input.store.kind(input.tree.event(call)) == EventKind::kCpuOp;
}

// The ops that begin in the scope's steps, by call.
std::vector<bool> selected_ops(const SheetInput& input) {
  std::vector<bool> selected(input.tree.size());
  const std::optional<Scope::StepRange>& range = input.scope.steps;
  const Steps steps(input.store, range ? std::string_view(input.scope.step_pattern) : "");
  for (CallId c(0); c.index < input.tree.size(); ++c.index) {
    if (!is_op(input, c)) continue;
    const auto step = range ? steps.at(input.store.start(input.tree.event(c))) : std::nullopt;
    selected[c.index] = !range || (step && *step >= range->begin && *step < range->end);
  }
  return selected;
}

void add_call(CpuOp& op, EventId event, Nanos self, Nanos total) {
  if (op.calls++ == 0) op.first = event;
  op.self += self;
  op.total += total;
}

template <typename Groups>
std::vector<CpuOp> by_self_time(const Groups& groups) {
  std::vector<CpuOp> sorted;
  for (const auto& [key, op] : groups) sorted.push_back(op);
  std::ranges::sort(sorted, [](const CpuOp& a, const CpuOp& b) {
    return std::tie(b.self, a.first) < std::tie(a.self, b.first);
  });
  return sorted;
}

Table cpu_table(const SheetInput& input, const CpuOps& ops, std::string title,
                const std::vector<CpuOp>& rows, bool with_args) {
  const EventStore& store = input.store;
  Table table(std::move(title));
  Column& name = table.text_column("name");
  Column* dims = with_args ? &table.text_column("Input Dims") : nullptr;
  Column* types = with_args ? &table.text_column("Input type") : nullptr;
  Column& count = table.count_column("operation_count");
  Column& self = table.time_column("self_cpu_time_us_sum", Unit::kMicros);
  Column& mean = table.real_column("self_cpu_time_us_mean", Unit::kMicros);
  Column& total = table.time_column("total_cpu_time_us_sum", Unit::kMicros);
  Column& example = table.count_column("ex_UID");
  PercentColumns percent(table, ops.self());
  RepeatBudget repeats;
  for (const CpuOp& op : rows) {
    name.add(store.text(op.name));
    if (with_args) {
      const Args args = op.args.valid() ? store.args(op.args) : Args{};
      dims->add(args_cell(store, args.dims, repeats));
      types->add(args_cell(store, args.types, repeats));
    }
    count.add(static_cast<int64_t>(op.calls));
    self.add(op.self);
    mean.add(op.self.micros() / static_cast<double>(op.calls));
    total.add(op.total);
    example.add(store.uid(op.first));
    percent.add(op.self);
  }
  return table;
}

}  // namespace

CpuOps::CpuOps(const SheetInput& input) {
  const std::vector<bool> selected = selected_ops(input);
  add_calls(input, selected);
  find_busiest(input, selected);
}

void CpuOps::add_calls(const SheetInput& input, const std::vector<bool>& selected) {
  const EventStore& store = input.store;
  const CallTree& tree = input.tree;
  std::vector<Nanos> below(tree.size());  // time of the ops that a call's op calls
  for (CallId c(0); c.index < tree.size(); ++c.index) {
    const CallId caller = tree.enclosing_op(tree.parent(c));
    if (is_op(input, c) && caller.valid()) below[caller.index] += store.duration(tree.event(c));
  }
  std::map<std::pair<StringId, ArgsId>, CpuOp> by_args;
  std::map<StringId, CpuOp> by_name;
  std::optional<Interval> whole;
  for (CallId c(0); c.index < tree.size(); ++c.index) {
    if (!selected[c.index]) continue;
    const EventId event = tree.event(c);
    const StringId name = store.name_id(event);
    const ArgsId args = store.args_id(event);
    const Nanos total = store.duration(event), self = total - below[c.index];
    add_call(by_args.try_emplace({name, args}, CpuOp{name, args, {}, 0, {}, {}}).first->second,
             event, self, total);
    add_call(by_name.try_emplace(name, CpuOp{name, args, {}, 0, {}, {}}).first->second, event, self,
             total);
    ++calls_;
    self_ += self;
    if (total < kShort) {
      ++short_calls_;
      short_self_ += self;
    }
    if (!whole) whole = {store.start(event), store.end(event)};
    whole->begin = std::min(whole->begin, store.start(event));
    whole->end = std::max(whole->end, store.end(event));
  }
  if (whole) length_ = whole->end - whole->begin;
  by_args_ = by_self_time(by_args);
  by_name_ = by_self_time(by_name);
}

void CpuOps::find_busiest(const SheetInput& input, const std::vector<bool>& selected) {
  struct Roots {
    Nanos begin, end, time;
  };
  std::map<TrackId, Roots> threads;
  for (CallId c(0); c.index < input.tree.size(); ++c.index) {
    if (!selected[c.index] || input.tree.parent(c).valid()) continue;
    const EventId event = input.tree.event(c);
    const Nanos begin = input.store.start(event), end = input.store.end(event);
    Roots& roots =
        threads.try_emplace(input.store.track_id(event), Roots{begin, end, {}}).first->second;
    roots.end = std::max(roots.end, end);
    roots.time += input.store.duration(event);
  }
  const auto most =
      std::ranges::max_element(threads, {}, [](const auto& t) { return t.second.time; });
  if (most == threads.end()) return;
  const Nanos span = most->second.end - most->second.begin;
  busiest_ = Thread{most->first, span, std::max(Nanos{}, span - most->second.time)};
}

bool is_cpu_only(const SheetInput& input) {
  return input.tree.has_ops() && input.tree.linked().empty() && input.tree.unlinked().empty();
}

std::vector<Table> cpu_sheets(const SheetInput& input) {
  if (!is_cpu_only(input)) return {};
  const CpuOps ops(input);
  std::vector<Table> sheets;
  sheets.push_back(cpu_table(input, ops, "cpu_ops_summary", ops.by_name(), false));
  sheets.push_back(cpu_table(input, ops, "cpu_ops_unique_args", ops.by_args(), true));
  return sheets;
}

}  // namespace fathom
