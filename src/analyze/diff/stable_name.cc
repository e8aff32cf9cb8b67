#include "analyze/diff/stable_name.h"

namespace fathom {
namespace {

constexpr std::string_view kModule = "nn.Module: ";
// Shorter ones may mean something: tile sizes, types and versions stand in names too.
constexpr size_t kHashLength = 32;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_word(char c) { return is_digit(c) || is_lower(c) || is_upper(c); }

bool is_address(std::string_view word) {
  return word.size() > 6 && word.starts_with("0x") &&
         word.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
}

bool is_hash(std::string_view word) {
  if (word.size() < kHashLength) return false;
  size_t digits = 0;
  for (const char c : word) {
    if (is_upper(c)) return false;
    digits += is_digit(c);
  }
  return digits >= 4;
}

// How much of the text stands before a number at its end.
size_t before_last_number(std::string_view text) {
  size_t end = text.size();
  while (end > 0 && is_digit(text[end - 1])) --end;
  return end;
}

}  // namespace

std::string stable_op_name(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size();) {
    size_t end = i;
    while (end < name.size() && is_word(name[end])) ++end;
    const std::string_view word = name.substr(i, end - i);
    out += is_address(word) || is_hash(word) ? std::string_view("*") : word;
    if (end < name.size()) out += name[end++];
    i = end;
  }
  return out;
}

std::string stable_annotation_name(std::string_view name) {
  std::string out = stable_op_name(name);
  const size_t end = before_last_number(out);
  // "H200" is a name; "step_200", "step 200" and "step#200" are the 200th.
  if (end == out.size() || (end > 0 && is_word(out[end - 1]))) return out;
  return out.substr(0, end) + "*";
}

std::string stable_module_name(std::string_view frame_name) {
  if (!frame_name.starts_with(kModule)) return {};
  const std::string_view name = frame_name.substr(kModule.size());
  const size_t end = before_last_number(name);
  const bool numbered = end < name.size() && end > 1 && name[end - 1] == '_';
  return std::string(numbered ? name.substr(0, end - 1) : name);
}

}  // namespace fathom
