#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scan/features/claim_verdicts.h"
#include "scan/files/repository.h"

namespace fathom {

struct ReadmeMentions {
  std::vector<ReadmeMention> known;  // one for each rule that is mentioned, in order of line
  // Items of the same lists that no rule knows.
  std::vector<std::pair<uint32_t, std::string>> unknown;
};

// What a README claims in its headings, lists and sentences that say "supports", "uses" and the
// like. Code blocks, tables, sentences that deny or promise, and sections about others are left
// out. `name` is the repository's own, which is not a claim.
ReadmeMentions find_mentions(std::string_view text, bool markdown, std::string_view name,
                             const FeatureRules& rules = FeatureRules::built_in());

// Of the README whose facts those are.
ReadmeMentions find_mentions(const Repository& repository, const CodeFacts& facts);

}  // namespace fathom
