#include "plan/goal_words.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "base/tsv.h"
#include "base/utf8.h"

namespace fathom {
namespace {

constexpr size_t kMaxPhraseGap = 3;

bool is_alphanumeric(char c) { return is_letter(c) || is_digit(c) || (c & 0x80) != 0; }

std::string_view without_punctuation(std::string_view token) {
  const auto inside = [](char c) { return is_alphanumeric(c) || c == '_' || c == '%'; };
  // The dashes of an option stay.
  while (!token.empty() && !inside(token.front()) && !token.starts_with("--") &&
         !(token.front() == '-' && token.size() > 1 && is_alphanumeric(token[1])))
    token.remove_prefix(1);
  while (!token.empty() && !inside(token.back()) && !token.ends_with("++")) token.remove_suffix(1);
  return token;
}

// "prefill/decode" is two words, "tokens/s" and "gb/s" are units.
bool slash_separates(std::string_view token, size_t at) { return at > 2 && token.size() - at > 3; }

// "8xh100" is 8 of them: how many characters the count takes with its x; 0: it is none.
size_t count_before_name(std::string_view word) {
  const size_t x = word.find_first_not_of("0123456789");
  const bool is_count =
      x != word.npos && x > 0 && word[x] == 'x' && x + 2 < word.size() && is_letter(word[x + 1]);
  return is_count ? x + 1 : 0;
}

void add_words(std::string_view token, uint32_t number, GoalText& out) {
  double value = 0;
  std::string word;
  const auto finish = [&] {
    if (const size_t count = count_before_name(word); count > 0) {
      out.words.push_back({word.substr(0, count - 1), number, false});
      out.words.push_back({"x", number, false});
      word.erase(0, count);
    }
    if (!word.empty()) out.words.push_back({word, number, false});
    word.clear();
  };
  const bool whole = read_number(token, value);
  for (size_t i = 0; i < token.size(); ++i) {
    const char c = token[i];
    const bool joins = c == '-' || c == '_' || c == '=' || c == ',' || c == '(' || c == ')' ||
                       c == ':' || (c == '/' && slash_separates(token, i));
    if (joins && !whole) {
      finish();
    } else {
      word += small_letter(c);
    }
  }
  finish();
}

}  // namespace

GoalText goal_text(std::string_view text) {
  GoalText out;
  out.cut = text.size() > kMaxGoalBytes;
  std::string plain = with_valid_utf8(text.substr(0, kMaxGoalBytes));
  for (size_t i = 0; i < plain.size();) {
    const size_t unseen = unseen_length(plain, i);
    for (size_t k = 0; k < unseen; ++k) plain[i + k] = ' ';
    i += std::max<size_t>(unseen, 1);
  }
  for (size_t begin = 0; begin < plain.size();) {
    const size_t end = std::min(plain.find(' ', begin), plain.size());
    const std::string_view token =
        without_punctuation(std::string_view(plain).substr(begin, end - begin));
    if (!token.empty()) {
      out.tokens.emplace_back(token);
      add_words(token, static_cast<uint32_t>(out.tokens.size() - 1), out);
    }
    begin = end + 1;
    if (out.words.size() > kMaxGoalWords) {
      out.cut = out.cut || begin < plain.size();
      break;
    }
  }
  return out;
}

GoalPhrase::GoalPhrase(std::string_view text) {
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    Part part;
    if (word == "…") {
      part.gap = true;
    } else {
      part.prefix = word.ends_with('*');
      part.text = word.substr(0, word.size() - (part.prefix ? 1 : 0));
      weight_ += part.text.size() + 1;
    }
    parts_.push_back(std::move(part));
  }
}

bool GoalPhrase::part_matches(const Part& part, const std::string& word) const {
  if (part.prefix) return word.starts_with(part.text);
  if (word == part.text) return true;
  return word.size() == part.text.size() + 1 && word.back() == 's' && word.starts_with(part.text) &&
         part.text.size() > 2;
}

size_t GoalPhrase::match_from(const std::vector<GoalWord>& words, size_t at, size_t part) const {
  const size_t begin = at;
  for (; part < parts_.size(); ++part) {
    if (parts_[part].gap) {
      for (size_t skip = 0; skip <= kMaxPhraseGap && at + skip < words.size(); ++skip) {
        const size_t rest = match_from(words, at + skip, part + 1);
        if (rest > 0) return at + skip + rest - begin;
      }
      return 0;
    }
    if (at >= words.size() || !part_matches(parts_[part], words[at].text)) return 0;
    ++at;
  }
  return at - begin;
}

size_t GoalPhrase::match(const std::vector<GoalWord>& words, size_t at) const {
  return parts_.empty() ? 0 : match_from(words, at, 0);
}

std::string squashed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (is_alphanumeric(c)) out += small_letter(c);
  }
  return out;
}

bool read_number(std::string_view text, double& number) {
  if (text.empty() || text.size() > 40) return false;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ec == std::errc() && read.ptr == end && std::isfinite(number);
}

std::string GoalText::said(size_t at, size_t count) const {
  std::string out;
  uint32_t last = UINT32_MAX;
  for (size_t i = at; i < at + count && i < words.size(); ++i) {
    const uint32_t token = words[i].token;
    if (token == last) continue;
    out += (out.empty() ? "" : " ") + tokens[token];
    last = token;
  }
  return out;
}

void GoalText::take(size_t at, size_t count) {
  for (size_t i = at; i < at + count; ++i) words[i].taken = true;
}

}  // namespace fathom
