// Copies assembly of GCC for x86-64 from standard input to standard output, with a step counted at
// the start of each function and at each label that code jumps to: no loop goes around without
// one. Counting keeps all registers and the 128 bytes below the stack pointer, which a function
// that calls nothing may use, and the flags unless the code that follows sets them before it reads
// them.
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

constexpr std::string_view kCount = "\tincq %fs:fathom_steps@tpoff\n";
constexpr std::string_view kCountKeepingFlags =
    "\tleaq -128(%rsp), %rsp\n"
    "\tpushq %rax\n"
    "\tmovq %fs:fathom_steps@tpoff, %rax\n"
    "\tleaq 1(%rax), %rax\n"
    "\tmovq %rax, %fs:fathom_steps@tpoff\n"
    "\tpopq %rax\n"
    "\tleaq 128(%rsp), %rsp\n";

// ".L12:"; other letters after the L stand for strings, debug and exception tables.
bool is_jump_label(std::string_view line) {
  if (!line.starts_with(".L") || !line.ends_with(':')) return false;
  const std::string_view number = line.substr(2, line.size() - 3);
  return !number.empty() && number.find_first_not_of("0123456789") == number.npos;
}

enum class Flags { kKept, kSet, kRead };

// What an instruction does to the flags, as far as compilers write it; kRead where it is not known.
Flags flags_after(std::string_view instruction) {
  const std::string_view name = instruction.substr(0, instruction.find_first_of(" \t;"));
  if (name == "call" || name == "ret") return Flags::kSet;  // by the calling convention
  if (name.find("comis") != name.npos) return Flags::kSet;
  for (const std::string_view reader :
       {"j", "set", "cmov", "fcmov", "adc", "sbb", "rc", "lahf", "pushf", "cmc", "loop"}) {
    if (name.starts_with(reader)) return Flags::kRead;
  }
  // With the letter of a size behind: addsd is another thing.
  constexpr std::array<std::string_view, 8> kSetters = {"add", "and", "cmp",  "neg",
                                                        "or",  "sub", "test", "xor"};
  const bool is_setter =
      !name.empty() && std::string_view("bwlq").find(name.back()) != name.npos &&
      std::ranges::find(kSetters, name.substr(0, name.size() - 1)) != kSetters.end();
  return is_setter ? Flags::kSet : Flags::kKept;
}

// Whether the code from here on, up to the first jump, sets the flags before it reads them.
bool sets_flags(std::string_view rest) {
  for (int i = 0; i < 40 && !rest.empty(); ++i) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1);
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (!line.starts_with('\t') || line.starts_with("\t.")) continue;  // a label, a directive
    const Flags after = flags_after(line.substr(1));
    if (after != Flags::kKept) return after == Flags::kSet;
  }
  return false;
}

// Whether what follows is code: labels stand before tables of jumps as well.
class Section {
 public:
  void read(std::string_view line) {
    if (line == "\t.text") {
      enter(true);
    } else if (line.starts_with("\t.section\t")) {
      enter(line.substr(10).starts_with(".text"));
    } else if (line == "\t.data" || line == "\t.bss") {
      enter(false);
    } else if (line == "\t.previous") {
      enter(before_);
    }
  }
  bool is_code() const { return is_code_; }

 private:
  void enter(bool is_code) {
    before_ = is_code_;
    is_code_ = is_code;
  }
  bool is_code_ = true, before_ = true;
};

void write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

}  // namespace

int main() {
  std::string text, buffer(1 << 20, '\0');
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), stdin)) {
    text.append(buffer, 0, got);
  }
  Section section;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1);
    const std::string_view line = rest.substr(0, end);
    section.read(line);
    write(rest.substr(0, end + 1));
    rest.remove_prefix(end + 1);
    if (section.is_code() && (line == "\t.cfi_startproc" || is_jump_label(line)))
      write(sets_flags(rest) ? kCount : kCountKeepingFlags);
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
