#include "sheets/op_columns.h"

#include "base/hash.h"
#include "base/utf8.h"

namespace fathom {
namespace {

// The known report's word for a process or thread that the trace does not name.
std::string name_or_unknown(const EventStore& store, StringId id, RepeatBudget& repeats) {
  return id.valid() ? text_cell(store, id, repeats) : "Unknown";
}

}  // namespace

size_t OpKeyHash::operator()(const OpKey& key) const {
  const TableHash hash;
  return hash(hash(key.name), hash(key.category), key.process_name.index, key.process_label.index,
              key.thread_name.index, key.args.index);
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
    process_name_->add(name_or_unknown(store, key.process_name, repeats_));
    process_label_->add(name_or_unknown(store, key.process_label, repeats_));
    thread_name_->add(name_or_unknown(store, key.thread_name, repeats_));
  }
  if (dims_ != nullptr) {
    const Args args = key.args.valid() ? store.args(key.args) : Args{};
    dims_->add(args_cell(store, args.dims, repeats_, lists_));
    types_->add(args_cell(store, args.types, repeats_, lists_));
    strides_->add(args_cell(store, args.strides, repeats_, lists_));
    concrete_->add(args_cell(store, args.concrete, repeats_, lists_));
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

std::optional<std::string> args_cell(const EventStore& store, StringId field, RepeatBudget& repeats,
                                     ListsAs lists) {
  if (!field.valid()) return {};
  const std::string_view text = store.text(field);
  return repeats.allows(field.index, text.size()) ? python_literal(text, lists)
                                                  : text_cell(store, field, repeats);
}

std::string text_cell(const EventStore& store, StringId text, RepeatBudget& repeats) {
  const std::string_view whole = store.text(text);
  return repeats.allows(text.index, whole.size())
             ? std::string(whole)
             : cut_to_bytes(whole, RepeatBudget::kShortenedBytes);
}

}  // namespace fathom
