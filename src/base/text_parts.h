#pragma once

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>

namespace fathom {

// Small questions to words and lists that all readers of text ask.

inline bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}
inline bool holds(std::string_view text, char c) { return text.find(c) != std::string_view::npos; }

template <typename List, typename Value>
bool contains(const List& list, const Value& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

// A word among others, which may be written in braces where they are asked for.
template <typename Words = std::initializer_list<std::string_view>>
bool is_one_of(std::string_view word, const Words& words) {
  for (const std::string_view one : words) {
    // Nearly all differ here, which is far cheaper than comparing the whole.
    if (one.size() == word.size() && one == word) return true;
  }
  return false;
}
template <typename Words = std::initializer_list<std::string_view>>
bool holds_any(std::string_view text, const Words& parts) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [text](std::string_view part) { return holds(text, part); });
}
template <typename Words = std::initializer_list<std::string_view>>
bool starts_with_any(std::string_view text, const Words& begins) {
  return std::any_of(std::begin(begins), std::end(begins),
                     [text](std::string_view begin) { return text.starts_with(begin); });
}
template <typename Words = std::initializer_list<std::string_view>>
bool ends_with_any(std::string_view text, const Words& ends) {
  return std::any_of(std::begin(ends), std::end(ends),
                     [text](std::string_view end) { return text.ends_with(end); });
}

// "a.b.c" and "." → "c"; all of it where there is none.
inline std::string_view after_last(std::string_view text, std::string_view joint) {
  const size_t at = text.rfind(joint);
  return at == std::string_view::npos ? text : text.substr(at + joint.size());
}
inline std::string_view after_last(std::string_view text, char joint) {
  return text.substr(text.rfind(joint) + 1);  // npos + 1 is 0
}
// "a.b.c" and "." → "a.b"; empty where there is none.
inline std::string_view before_last(std::string_view text, std::string_view joint) {
  const size_t at = text.rfind(joint);
  return at == std::string_view::npos ? std::string_view() : text.substr(0, at);
}
inline std::string_view before_last(std::string_view text, char joint) {
  const size_t at = text.rfind(joint);
  return at == std::string_view::npos ? std::string_view() : text.substr(0, at);
}
// Whether a name as written can mean the full one: "b.c" is an end of "a.b.c" behind a joint.
inline bool ends_with_part(std::string_view full, std::string_view written, char joint) {
  return full.ends_with(written) &&
         (full.size() == written.size() || full[full.size() - written.size() - 1] == joint);
}

// The number that all of a text is; none: it is something else.
template <typename Number>
std::optional<Number> number_in(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool all = error == std::errc() && end == text.data() + text.size();
  return all ? std::optional(value) : std::nullopt;
}

// What a map has for a key; null: nothing.
template <typename Map, typename Key = typename Map::key_type>
const typename Map::mapped_type* find_value(const Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}
// The same, an empty one where there is nothing.
template <typename Map, typename Key = typename Map::key_type>
const typename Map::mapped_type& value_or_empty(const Map& map, const Key& key) {
  static const typename Map::mapped_type empty{};
  const auto found = map.find(key);
  return found == map.end() ? empty : found->second;
}

}  // namespace fathom
