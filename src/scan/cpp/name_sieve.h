#pragma once

#include <bitset>
#include <string_view>

namespace fathom::cpp {

// Tells most names apart from a set of names without a look-up in it.
class NameSieve {
 public:
  void add(std::string_view name) { bits_.set(slot(name)); }
  bool may_contain(std::string_view name) const { return bits_.test(slot(name)); }

 private:
  static size_t slot(std::string_view name) {
    if (name.empty()) return 0;
    const auto byte = [&](size_t at) { return static_cast<unsigned char>(name[at]); };
    return (name.size() * 131 + byte(0) * 31 + byte(name.size() - 1) * 17 + byte(name.size() / 2)) %
           kSlots;
  }
  static constexpr size_t kSlots = 1 << 14;
  std::bitset<kSlots> bits_;
};

}  // namespace fathom::cpp
