#pragma once

#include <string_view>
#include <vector>

namespace fathom {

// A row of data/features/request_words.tsv.
enum class RequestRole : uint8_t { kWork, kLeads, kPrepares, kAside, kSend, kReceive, kQueue };

// The words of a role, in the order of the table.
const std::vector<std::string_view>& request_words(RequestRole role);
bool is_request_word(RequestRole role, std::string_view name);     // the name is such a word
bool holds_request_word(RequestRole role, std::string_view text);  // such a word is in it
// The method that plans the work of another; empty: none.
std::string_view preparing_method(std::string_view method);

}  // namespace fathom
