#include "compare_values.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "tolerance.h"

namespace fathom::agreement {
namespace {

constexpr size_t kKeptCharacters = 64;

using Kind = Value::Kind;

std::string_view describe(Kind kind) {
  switch (kind) {
    case Kind::none:
      return "none";
    case Kind::boolean:
      return "boolean";
    case Kind::number:
      return "number";
    case Kind::text:
      return "text";
    case Kind::list:
      return "list";
    case Kind::dict:
      return "dict";
  }
  return "";
}

size_t count_characters(std::string_view utf8) {
  return static_cast<size_t>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// A name without its mark of having been cut. The length decides, for a short name may end in dots
// too.
std::string_view remove_cut_mark(std::string_view name, std::string_view mark) {
  if (!name.ends_with(mark)) return name;
  if (count_characters(name) != kKeptCharacters + count_characters(mark)) return name;
  return name.substr(0, name.size() - mark.size());
}

class ValueComparison {
 public:
  explicit ValueComparison(const Value* full_details) : full_details_(full_details) {}

  std::vector<ValueMismatch> run(const Value& ours, const Value& theirs) {
    compare(ours, theirs, "", "");
    return std::move(found_);
  }

 private:
  void report(const std::string& path, const Value& ours, const Value& theirs, std::string why) {
    found_.push_back({path, format_json(ours), format_json(theirs), std::move(why)});
  }

  void compare(const Value& ours, const Value& theirs, const std::string& path,
               std::string_view key) {
    if (ours.kind != theirs.kind) {
      report(path, ours, theirs,
             std::string(describe(ours.kind)) + " against " + std::string(describe(theirs.kind)));
      return;
    }
    switch (theirs.kind) {
      case Kind::none:
        return;
      case Kind::boolean:
        if (ours.boolean != theirs.boolean) report(path, ours, theirs, "differs");
        return;
      case Kind::number:
        return compare_numbers(ours, theirs, path, key);
      case Kind::text:
        return compare_texts(ours, theirs, path, key);
      case Kind::list:
        return compare_lists(ours, theirs, path);
      case Kind::dict:
        return compare_dicts(ours, theirs, path);
    }
  }

  void compare_numbers(const Value& ours, const Value& theirs, const std::string& path,
                       std::string_view key) {
    if (full_details_ != nullptr && key == "mean_duration_us") {
      return compare_rounded_means(ours, theirs, path);
    }
    const double off = std::abs(ours.number - theirs.number);
    const double limit =
        key.ends_with("_us") ? kSameNanosecond : kLastDigits * std::abs(theirs.number);
    if (off > limit) report(path, ours, theirs, "differs");
  }

  void compare_rounded_means(const Value& ours, const Value& theirs, const std::string& path) {
    const double hundredths = ours.number * 100;
    if (std::abs(hundredths - std::round(hundredths)) > 1e-6) {
      return report(path, ours, theirs, "not rounded to two decimals");
    }
    const Value* full = position_ < full_details_->items.size()
                            ? full_details_->items[position_].find("mean_duration_us")
                            : nullptr;
    const double off = std::abs(ours.number - (full != nullptr ? full->number : theirs.number));
    if (off > 0.005 + kSameNanosecond) report(path, ours, theirs, "differs");
  }

  void compare_texts(const Value& ours, const Value& theirs, const std::string& path,
                     std::string_view key) {
    if (full_details_ == nullptr || key != "name") {
      if (ours.text != theirs.text) report(path, ours, theirs, "differs");
      return;
    }
    const auto our_part = remove_cut_mark(ours.text, "…");
    const auto their_part = remove_cut_mark(theirs.text, "...");
    const bool both_cut =
        (our_part.size() != ours.text.size()) == (their_part.size() != theirs.text.size());
    if (our_part != their_part || !both_cut) report(path, ours, theirs, "differs");
  }

  void compare_lists(const Value& ours, const Value& theirs, const std::string& path) {
    if (ours.items.size() != theirs.items.size()) {
      return report(path, ours, theirs,
                    std::to_string(ours.items.size()) + " entries against " +
                        std::to_string(theirs.items.size()));
    }
    for (size_t i = 0; i < ours.items.size(); ++i) {
      if (path.empty()) position_ = i;
      compare(ours.items[i], theirs.items[i], path + "[" + std::to_string(i) + "]", "");
    }
  }

  void compare_dicts(const Value& ours, const Value& theirs, const std::string& path) {
    for (size_t i = 0; i < theirs.keys.size(); ++i) {
      const auto& key = theirs.keys[i];
      const Value* mine = ours.find(key);
      if (mine == nullptr) {
        report(path + "." + key, Value(), theirs.items[i], "ours lacks this key");
      } else {
        compare(*mine, theirs.items[i], path + "." + key, key);
      }
    }
    for (size_t i = 0; i < ours.keys.size(); ++i) {
      if (theirs.find(ours.keys[i]) == nullptr) {
        report(path + "." + ours.keys[i], ours.items[i], Value(), "theirs lacks this key");
      }
    }
  }

  const Value* full_details_;  // null: not a trunc_kernel_details cell
  size_t position_ = 0;        // entry of the outermost list
  std::vector<ValueMismatch> found_;
};

}  // namespace

std::vector<ValueMismatch> compare_values(const Value& ours, const Value& theirs) {
  return ValueComparison(nullptr).run(ours, theirs);
}

std::vector<ValueMismatch> compare_cut_details(const Value& ours, const Value& theirs,
                                               const Value& theirs_in_full) {
  return ValueComparison(&theirs_in_full).run(ours, theirs);
}

}  // namespace fathom::agreement
