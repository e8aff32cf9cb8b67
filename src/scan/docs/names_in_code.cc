#include "scan/docs/names_in_code.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "scan/files/source_text.h"

namespace fathom {
namespace {

bool can_read_options(const SourceFile& file) {
  switch (file.language) {
    case Language::kNone:
    case Language::kMarkdown:
    case Language::kRestructuredText:
    case Language::kText:
    case Language::kCsv:
    case Language::kHtml:
    case Language::kTex:
    case Language::kJson:
      return false;
    default:
      return true;
  }
}

// Marks the names that stand in the text as whole words.
void mark_words(std::string_view text, std::map<std::string, bool, std::less<>>& named) {
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-';
  };
  std::array<bool, 256> begins = {};  // most words of a text begin no name
  for (const auto& [name, found] : named) begins[static_cast<unsigned char>(name[0])] = true;
  for (size_t at = 0; at < text.size(); ++at) {
    const size_t begin = at;
    while (at < text.size() && is_word(text[at])) ++at;
    if (at == begin || !begins[static_cast<unsigned char>(text[begin])]) continue;
    const auto found = named.find(text.substr(begin, at - begin));
    if (found != named.end()) found->second = true;
  }
}

}  // namespace

void drop_what_the_code_names(const Repository& repository, const std::vector<SourceFile>& files,
                              std::vector<DocClaim>& claims) {
  std::map<std::string, bool, std::less<>> named;  // what to look for → found
  const auto spellings = [](const DocClaim& c) {
    std::vector<std::string> out = {c.what};
    if (c.kind == ClaimKind::kOptionAbsent) {
      std::string words = c.what.substr(2);
      std::replace(words.begin(), words.end(), '-', '_');
      out.push_back(words);
      std::replace(words.begin(), words.end(), '_', '-');
      out.push_back(words);
    }
    return out;
  };
  for (const DocClaim& c : claims) {
    if (c.kind != ClaimKind::kOptionAbsent && c.kind != ClaimKind::kVariableAbsent) continue;
    for (std::string& spelling : spellings(c)) named.emplace(std::move(spelling), false);
  }
  if (named.empty()) return;
  for (const SourceFile& file : files) {
    if (!file.skipped.empty() || !can_read_options(file)) continue;
    Result<std::string> text = read_source_text(repository.root / file.path);
    if (!text.ok()) continue;
    mark_words(text.value(), named);
  }
  std::erase_if(claims, [&](const DocClaim& c) {
    if (c.kind != ClaimKind::kOptionAbsent && c.kind != ClaimKind::kVariableAbsent) return false;
    const auto all = spellings(c);
    return std::any_of(all.begin(), all.end(), [&](const std::string& s) { return named[s]; });
  });
}

}  // namespace fathom
