#include "ingest/kineto/event_start.h"

#include <algorithm>
#include <vector>

namespace fathom::kineto {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr size_t kSpacesAtMost = 64;  // between a brace, its first key and the colon

size_t skip_space(std::string_view text, size_t at, size_t at_most = kNone) {
  const size_t end = at_most < text.size() - std::min(at, text.size()) ? at + at_most : text.size();
  while (at < end && is_space(text[at])) ++at;
  return at;
}

// The text before `at` without the spaces at its end, as far as it is near.
std::string_view text_before(std::string_view text, size_t at) {
  const size_t begin = at > kSpacesAtMost ? at - kSpacesAtMost : 0;
  while (at > begin && is_space(text[at - 1])) --at;
  return text.substr(begin, at - begin);
}

// A key and a colon stand before `at`. That of the list of events does not count: there a bracket
// is missing.
bool is_value_of_key(std::string_view text, size_t at) {
  std::string_view before = text_before(text, at);
  if (!before.ends_with(':')) return false;
  before.remove_suffix(1);
  while (!before.empty() && is_space(before.back())) before.remove_suffix(1);
  return before.ends_with('"') && !before.ends_with("\"traceEvents\"");
}

// Keys that an event may begin with, whoever wrote it.
bool is_first_key(std::string_view key) {
  static constexpr std::string_view kKeys[] = {"ph",   "cat",   "name", "pid", "tid", "ts",
                                               "dur",  "id",    "s",    "bp",  "tts", "tdur",
                                               "args", "cname", "sf",   "esf", "id2"};
  return std::ranges::find(kKeys, key) != std::end(kKeys);
}

constexpr std::string_view kPhaseKey = "\"ph\"";

}  // namespace

bool is_event_start(std::string_view text, size_t at) {
  constexpr size_t kLongestKey = 5;
  if (text[at] != '{') return false;
  size_t i = skip_space(text, at + 1, kSpacesAtMost);
  if (i >= text.size() || text[i] != '"') return false;
  const std::string_view key = text.substr(i + 1, kLongestKey + 1);
  const size_t quote = key.find('"');
  if (quote == kNone || !is_first_key(key.substr(0, quote))) return false;
  i = skip_space(text, i + quote + 2, kSpacesAtMost);
  return i < text.size() && text[i] == ':' && !is_value_of_key(text, at);
}

size_t count_phase_keys(std::string_view text) {
  size_t count = 0;
  for (size_t at = text.find(kPhaseKey); at != kNone; at = text.find(kPhaseKey, at + 1)) {
    const size_t colon = skip_space(text, at + kPhaseKey.size());
    count += colon < text.size() && text[colon] == ':';
  }
  return count;
}

bool has_phase_letter(std::string_view event) {
  const size_t key = event.find(kPhaseKey);
  if (key == kNone) return false;
  const size_t colon = skip_space(event, key + kPhaseKey.size());
  const std::string_view value = event.substr(std::min(skip_space(event, colon + 1), event.size()));
  return value.size() >= 3 && value[0] == '"' && value[2] == '"';
}

ListEnd judge_list_end(std::string_view text, size_t at, bool bare_list, bool is_all) {
  const ListEnd at_the_end = is_all ? ListEnd::kYes : ListEnd::kUnknown;
  size_t next = skip_space(text, at + 1);
  if (next == text.size()) return at_the_end;
  const bool comma = text[next] == ',';
  if (comma) next = skip_space(text, next + 1);
  if (next == text.size()) return at_the_end;
  if (bare_list) {
    if (!is_all && text.size() - next < kEventStartLength) return ListEnd::kUnknown;
    return is_event_start(text, next) ? ListEnd::kNo : ListEnd::kYes;
  }
  return text[next] == (comma ? '"' : '}') ? ListEnd::kYes : ListEnd::kNo;
}

namespace {

// One pass with a stack. What contradicts the stack empties it: then a bracket or a quote before
// was damage, and what comes after is looked at for itself.
class LandmarkSearch {
 public:
  LandmarkSearch(std::string_view text, bool bare_list, bool is_all)
      : text_(text), bare_list_(bare_list), is_all_(is_all) {}

  Landmark search(size_t from) {
    for (at_ = from; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '{' && (!is_all_ && text_.size() - at_ < kEventStartLength)) break;
      if (string_begin_ != kNone ? step_in_string(c) : step(c)) break;
    }
    return found_;
  }

 private:
  struct Open {
    char bracket;
    bool may_be_event;
    size_t at;
  };

  // No event nests as deep as this: such brackets are damage, and a text of nothing else must not
  // take many times its size.
  void push(Open open) {
    constexpr size_t kDeepest = 10'000;
    if (open_.size() == kDeepest) open_.clear();
    open_.push_back(open);
  }

  void start_anew() {
    open_.clear();
    string_begin_ = kNone;
  }

  // True: there is nothing more to look for.
  bool step_in_string(char c) {
    if (c == '\\') {
      ++at_;
    } else if (c == '"') {
      const bool phase = text_.substr(string_begin_, at_ + 1 - string_begin_) == kPhaseKey;
      string_begin_ = kNone;
      if (phase) return end_phase_key();
    } else if (c == '\n') {
      start_anew();
    } else if (c == '{' && is_event_start(text_, at_)) {
      start_anew();
      push({c, true, at_});
    }
    return false;
  }

  bool end_phase_key() {
    const size_t colon = skip_space(text_, at_ + 1);
    if (colon >= text_.size() || text_[colon] != ':') return false;
    if (open_.empty() || !open_.back().may_be_event) return false;
    found_.event = open_.back().at;
    return true;
  }

  bool step(char c) {
    if (c == '"') {
      string_begin_ = at_;
    } else if (c == '{') {
      const bool may_be_event = is_event_start(text_, at_);
      if (may_be_event && !open_.empty() && open_.back().bracket == '{') start_anew();
      push({c, may_be_event, at_});
    } else if (c == '[') {
      push({c, false, at_});
    } else if (c == '}' || c == ']') {
      if (!open_.empty() && (open_.back().bracket == '[') == (c == ']')) {
        open_.pop_back();
        return false;
      }
      open_.clear();
      if (c == ']') return end_list();
    }
    return false;
  }

  bool end_list() {
    const std::string_view before = text_before(text_, at_);
    if (!before.ends_with('}') && !before.ends_with(',')) return false;
    const ListEnd judged = judge_list_end(text_, at_, bare_list_, is_all_);
    if (judged == ListEnd::kYes) found_.list_end = at_;
    return judged != ListEnd::kNo;
  }

  std::string_view text_;
  bool bare_list_, is_all_;
  size_t at_ = 0, string_begin_ = kNone;
  std::vector<Open> open_;
  Landmark found_;
};

}  // namespace

Landmark find_landmark(std::string_view text, size_t from, bool bare_list, bool is_all) {
  return LandmarkSearch(text, bare_list, is_all).search(from);
}

}  // namespace fathom::kineto
