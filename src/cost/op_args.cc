#include "cost/op_args.h"

#include <charconv>

#include "base/json_unescape.h"

namespace fathom {
namespace {

// A tree of lists with numbers or texts as leaves: what the four fields are, and all that is read
// of a trace's values. Nothing is evaluated.
struct Value {
  std::vector<Value> items;
  std::optional<int64_t> number;
  std::string text;
  bool is_list = false;
};

class ValueReader {
 public:
  explicit ValueReader(std::string_view json) : json_(json) {}

  std::optional<Value> read_whole() {
    std::optional<Value> value = read(0);
    skip_spaces();
    return at_ == json_.size() ? value : std::nullopt;
  }

 private:
  static constexpr int kDeepest = 8;  // lists of lists of tensors' sizes are three deep

  void skip_spaces() {
    while (at_ < json_.size() && (json_[at_] == ' ' || json_[at_] == '\n' || json_[at_] == '\t'))
      ++at_;
  }
  bool take(char c) {
    skip_spaces();
    if (at_ >= json_.size() || json_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::optional<Value> read(int depth) {
    if (depth > kDeepest) return {};
    if (take('[')) return read_list(depth);
    if (take('"')) return read_text();
    return read_number();
  }

  std::optional<Value> read_list(int depth) {
    Value list;
    list.is_list = true;
    if (take(']')) return list;
    do {
      std::optional<Value> item = read(depth + 1);
      if (!item) return {};
      list.items.push_back(std::move(*item));
    } while (take(','));
    if (!take(']')) return {};
    return list;
  }

  std::optional<Value> read_text() {
    const size_t begin = at_;
    for (; at_ < json_.size() && json_[at_] != '"'; ++at_) at_ += json_[at_] == '\\';
    if (at_ >= json_.size()) return {};
    Value value;
    value.text = json_unescaped(json_.substr(begin, at_++ - begin));
    return value;
  }

  // Numbers with a fraction, true, false and null are leaves of which only the text is of use.
  std::optional<Value> read_number() {
    skip_spaces();
    const size_t end = std::min(json_.find_first_of(",]", at_), json_.size());
    if (end == at_) return {};
    Value value;
    value.text = json_.substr(at_, end - at_);
    int64_t number = 0;
    const auto [stop, error] = std::from_chars(json_.data() + at_, json_.data() + end, number);
    if (error == std::errc() && stop == json_.data() + end) value.number = number;
    at_ = end;
    return value;
  }

  std::string_view json_;
  size_t at_ = 0;
};

std::optional<Value> read_field(const EventStore& store, StringId field) {
  if (!field.valid()) return {};
  std::optional<Value> value = ValueReader(store.text(field)).read_whole();
  return value && value->is_list ? value : std::nullopt;
}

std::optional<std::vector<int64_t>> integers(const Value& list) {
  std::vector<int64_t> numbers;
  for (const Value& item : list.items) {
    if (!item.number) return {};
    numbers.push_back(*item.number);
  }
  return numbers;
}

bool holds_lists(const Value& value) { return !value.items.empty() && value.items[0].is_list; }

const Value* item_at(const std::optional<Value>& list, size_t place) {
  return list && place < list->items.size() ? &list->items[place] : nullptr;
}

std::vector<int64_t> integers_or_none(const Value* value) {
  return value != nullptr ? integers(*value).value_or(std::vector<int64_t>{})
                          : std::vector<int64_t>{};
}

// A negative size is no size.
bool are_sizes(const std::vector<int64_t>& dims) {
  for (int64_t dim : dims) {
    if (dim < 0) return false;
  }
  return true;
}

}  // namespace

std::optional<OpArgs> read_op_args(const EventStore& store, ArgsId id) {
  if (!id.valid()) return {};
  const Args& args = store.args(id);
  const std::optional<Value> dims = read_field(store, args.dims),
                             types = read_field(store, args.types),
                             strides = read_field(store, args.strides),
                             concrete = read_field(store, args.concrete);
  if (!dims) return {};
  OpArgs read;
  for (size_t i = 0; i < dims->items.size(); ++i) {
    ArgValue& value = read.inputs.emplace_back();
    const Value& shape = dims->items[i];
    const Value* stride = item_at(strides, i);
    if (holds_lists(shape)) {
      for (size_t k = 0; k < shape.items.size(); ++k) {
        const Value* each =
            stride != nullptr && k < stride->items.size() ? &stride->items[k] : nullptr;
        value.list.push_back({integers_or_none(&shape.items[k]), integers_or_none(each)});
        if (!are_sizes(value.list.back().dims)) return {};
      }
    } else {
      value.shape = {integers_or_none(&shape), integers_or_none(stride)};
      if (!are_sizes(value.shape.dims)) return {};
    }
    if (const Value* type = item_at(types, i)) value.type = type->text;
    if (const Value* text = item_at(concrete, i)) value.concrete = text->text;
  }
  return read;
}

std::optional<std::vector<int64_t>> read_int_list(std::string_view text) {
  const std::optional<Value> value = ValueReader(text).read_whole();
  if (!value || !value->is_list) return {};
  return integers(*value);
}

std::optional<int64_t> element_count(const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (int64_t dim : dims) {
    if (__builtin_mul_overflow(count, dim, &count)) return {};
  }
  return count;
}

}  // namespace fathom
