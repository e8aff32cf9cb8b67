#include "scan/docs/doc_values.h"

#include <cctype>

#include "scan/facts/code_names.h"

namespace fathom {

std::optional<std::string> plain_value(std::string_view text) {
  while (!text.empty() && (text.front() == '`' || text.front() == '"' || text.front() == '\'' ||
                           text.front() == '*'))
    text.remove_prefix(1);
  while (!text.empty() &&
         std::string_view("`\"'*.,;:)").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  if (text.empty() || text.size() > 40) return std::nullopt;
  for (const char c : text) {
    if (!std::isalnum(static_cast<unsigned char>(c)) &&
        std::string_view("-_./:").find(c) == std::string_view::npos)
      return std::nullopt;
  }
  return small_letters(text);
}

bool same_value(const std::string& a, const std::string& b) {
  if (a == b) return true;
  const auto number = [](const std::string& text) -> std::optional<double> {
    std::string digits = text;
    std::erase(digits, '_');
    // 3e-4f and 1L are numbers of C.
    const bool hex = digits.starts_with("0x");
    while (!hex && digits.size() > 1 &&
           (digits.back() == 'f' || digits.back() == 'l' || digits.back() == 'u')) {
      digits.pop_back();
    }
    return number_in<double>(digits);
  };
  if (number(a) && number(b)) return *number(a) == *number(b);
  const auto truth = [](const std::string& text) -> std::optional<bool> {
    if (text == "true" || text == "1" || text == "on" || text == "yes" || text == "enabled")
      return true;
    if (text == "false" || text == "0" || text == "off" || text == "no" || text == "disabled")
      return false;
    return std::nullopt;
  };
  if (truth(a) && truth(b)) return *truth(a) == *truth(b);
  // A file is often named by its end.
  return a.ends_with("/" + b) || b.ends_with("/" + a);
}

}  // namespace fathom
