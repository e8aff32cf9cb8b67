#include "scan/link/request_words.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "base/text_parts.h"
#include "base/tsv.h"

extern const std::string_view request_words_tsv;

namespace fathom {
namespace {

struct RequestWords {
  std::array<std::vector<std::string_view>, 7> of_role;
  std::vector<std::pair<std::string_view, std::string_view>> prepared;  // a method, its plan
};

const RequestWords& all_request_words() {
  static const RequestWords words = [] {
    constexpr std::array<std::string_view, 7> roles = {"work", "leads",   "prepares", "aside",
                                                       "send", "receive", "queue"};
    RequestWords read;
    for (const auto& row : read_tsv(request_words_tsv, 3)) {
      const auto role = std::ranges::find(roles, row[0]);
      CHECK(role != roles.end());
      read.of_role[static_cast<size_t>(role - roles.begin())].push_back(row[1]);
      if (!row[2].empty()) read.prepared.emplace_back(row[2], row[1]);
    }
    return read;
  }();
  return words;
}

}  // namespace

const std::vector<std::string_view>& request_words(RequestRole role) {
  return all_request_words().of_role[static_cast<size_t>(role)];
}

bool is_request_word(RequestRole role, std::string_view name) {
  return contains(request_words(role), name);
}

bool holds_request_word(RequestRole role, std::string_view text) {
  return holds_any(text, request_words(role));
}

std::string_view preparing_method(std::string_view method) {
  for (const auto& [prepared, plan] : all_request_words().prepared) {
    if (prepared == method) return plan;
  }
  return {};
}

}  // namespace fathom
