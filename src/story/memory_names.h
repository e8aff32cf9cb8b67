#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/expressions.h"
#include "scan/facts/code_place.h"

namespace fathom {

enum class Memory : uint8_t { kUnknown, kGlobal, kShared, kLocal };

// What a name of device code points to, as far as its declaration and origin tell.
struct NamedMemory {
  Memory memory = Memory::kUnknown;
  std::string through;  // a value read from memory that the address is made of; empty: none
  std::string element;  // the type it points to, where a declaration or cast says it
  Certainty certainty = Certainty::kCertain;
  bool number = false;  // one number in shared memory, which its name alone reads and writes
  bool object = false;  // a barrier, a library's storage: naming it reads nothing
};

struct MemoryAccess {
  bool writes = false;
  std::string name;
  NamedMemory of;
};

// Follows pointers through a function's statements: a kernel's pointer parameters point to global
// memory, __shared__ names to shared memory, and what is made of a pointer points where it does.
class MemoryNames {
 public:
  void add_parameters_of_kernel(const cpp::Function& kernel, const cpp::Code& body);
  void set(const std::string& name, NamedMemory memory) { names_[name] = std::move(memory); }

  // What a statement reads and writes; its declarations count from there on.
  std::vector<MemoryAccess> read(const cpp::Code& code, cpp::Range statement);
  // What an expression points to.
  NamedMemory of_expression(const cpp::Code& code, cpp::Range range) const;

 private:
  struct Parts;
  std::vector<MemoryAccess> read_one(const cpp::Code& code, cpp::Range statement);
  void find_accesses(const cpp::Code& code, cpp::Range range, bool target,
                     std::vector<MemoryAccess>& out) const;
  void add_counted(const cpp::Code& code, cpp::Range range, std::vector<MemoryAccess>& out) const;
  void find_members(const cpp::Code& code, cpp::Range range, bool target,
                    std::vector<MemoryAccess>& out) const;
  void find_numbers(const cpp::Code& code, cpp::Range range, bool target,
                    std::vector<MemoryAccess>& out) const;
  void declare(const cpp::Code& code, const Parts& parts, bool loads);
  NamedMemory of_base(const cpp::Code& code, size_t bracket, std::string& name) const;
  void add_bindings(const cpp::Code& code, size_t open, const NamedMemory& memory);

  std::map<std::string, NamedMemory, std::less<>> names_;
  std::map<std::string, std::string, std::less<>> loaded_;  // value → what was read first
  std::set<std::string, std::less<>> numbers_;              // declared as numbers
};

// The names of a function's parameters, in order.
std::vector<std::string> parameter_names(std::string_view parameters);
// Whether each of them is a value: neither pointer nor reference nor array.
std::vector<bool> parameters_by_value(std::string_view parameters);
// x[i], an element that is read, and not &x[i].
bool is_element(const cpp::Code& code, cpp::Range range);

}  // namespace fathom
