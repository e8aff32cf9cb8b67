#include "sheets/op_columns.h"

#include "sheets/python_literal.h"

namespace fathom {
namespace {

// The known report's word for a process or thread that the trace does not name.
std::string_view name_or_unknown(const EventStore& store, StringId id) {
  return id.valid() ? store.text(id) : "Unknown";
}

}  // namespace

size_t OpKeyHash::operator()(const OpKey& key) const {
  size_t hash = std::hash<std::string_view>{}(key.name);
  const auto mix = [&hash](size_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15ull; };
  mix(std::hash<std::string_view>{}(key.category));
  for (StringId id : {key.process_name, key.process_label, key.thread_name}) mix(id.index);
  mix(key.args.index);
  return hash;
}

OpKey op_key(const EventStore& store, EventId op, std::string_view name,
             std::string_view category) {
  const Track& track = store.track(op);
  return {name,
          category,
          track.process_name,
          track.process_label,
          track.thread_name,
          store.args_id(op)};
}

OpKeyColumns::OpKeyColumns(Table& table)
    : name_(table.text_column("name")),
      category_(table.text_column("op category")),
      process_name_(table.text_column("process_name")),
      process_label_(table.text_column("process_label")),
      thread_name_(table.text_column("thread_name")),
      dims_(table.text_column("Input Dims")),
      types_(table.text_column("Input type")),
      strides_(table.text_column("Input Strides")),
      concrete_(table.text_column("Concrete Inputs")) {}

void OpKeyColumns::add(const EventStore& store, const OpKey& key) {
  name_.add(key.name);
  category_.add(key.category);
  process_name_.add(name_or_unknown(store, key.process_name));
  process_label_.add(name_or_unknown(store, key.process_label));
  thread_name_.add(name_or_unknown(store, key.thread_name));
  const Args args = key.args.valid() ? store.args(key.args) : Args{};
  dims_.add(args_cell(store, args.dims));
  types_.add(args_cell(store, args.types));
  strides_.add(args_cell(store, args.strides));
  concrete_.add(args_cell(store, args.concrete));
}

PercentColumns::PercentColumns(Table& table, Nanos whole)
    : percentage_(table.real_column("Percentage (%)", Unit::kPercent)),
      cumulative_(table.real_column("Cumulative Percentage (%)", Unit::kPercent)),
      whole_(whole) {}

void PercentColumns::add(Nanos part) {
  so_far_ += part;
  percentage_.add(ratio(part, whole_) * 100);
  cumulative_.add(ratio(so_far_, whole_) * 100);
}

std::optional<std::string> args_cell(const EventStore& store, StringId field) {
  if (!field.valid()) return {};
  return python_literal(store.text(field));
}

}  // namespace fathom
