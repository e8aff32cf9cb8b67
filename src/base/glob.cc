#include "base/glob.h"

namespace fathom {

bool glob_matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0;
  size_t star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;  // let the last * take one character more, up to where the next one fits
      ++resume;
      if (p < pattern.size() && pattern[p] != '?' && pattern[p] != '*')
        resume = text.find(pattern[p], resume);
      if (resume == std::string_view::npos) return false;
      t = resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace fathom
