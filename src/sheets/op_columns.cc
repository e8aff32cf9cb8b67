#include "sheets/op_columns.h"

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

OpKeyColumns::OpKeyColumns(Table& table, Part part, std::string_view suffix)
    : lists_(part == Part::kAll ? ListsAs::kTuples : ListsAs::kLists) {
  const auto column = [&](std::string name) { return &table.text_column(name.append(suffix)); };
  if (part == Part::kAll) {
    name_ = column("name");
    category_ = column("op category");
  }
  if (part != Part::kArgs) {
    process_name_ = column("process_name");
    process_label_ = column("process_label");
    thread_name_ = column("thread_name");
  }
  if (part != Part::kThread) {
    dims_ = column("Input Dims");
    types_ = column("Input type");
    strides_ = column("Input Strides");
    concrete_ = column("Concrete Inputs");
  }
}

void OpKeyColumns::add(const EventStore& store, const OpKey& key) {
  if (name_ != nullptr) {
    name_->add(key.name);
    category_->add(key.category);
  }
  if (process_name_ != nullptr) {
    process_name_->add(name_or_unknown(store, key.process_name));
    process_label_->add(name_or_unknown(store, key.process_label));
    thread_name_->add(name_or_unknown(store, key.thread_name));
  }
  if (dims_ != nullptr) {
    const Args args = key.args.valid() ? store.args(key.args) : Args{};
    dims_->add(args_cell(store, args.dims, lists_));
    types_->add(args_cell(store, args.types, lists_));
    strides_->add(args_cell(store, args.strides, lists_));
    concrete_->add(args_cell(store, args.concrete, lists_));
  }
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

std::optional<std::string> args_cell(const EventStore& store, StringId field, ListsAs lists) {
  if (!field.valid()) return {};
  return python_literal(store.text(field), lists);
}

}  // namespace fathom
