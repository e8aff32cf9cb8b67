#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tree/phases.h"

namespace fathom {

// What a range's name tells about the work inside it (data/phases/names.tsv).
enum class NameRole : uint8_t {
  kPhase,  // of a known kind
  kNamed,  // may be a phase of its own name
  kStep,   // bounds runs
  kPart,   // inside a phase, or around none
};

struct NameMeaning {
  NameRole role = NameRole::kNamed;
  PhaseKind kind = PhaseKind::kNamed;  // of a part too: an op of autograd

  bool of_library = false;  // a collective, in a range that its library made

  bool operator==(const NameMeaning&) const = default;
};

// By its words, which names with other numbers have in common.
NameMeaning meaning_of_words(const std::string& words);

// A name with '#' for numbers, without those at its ends.
std::string text_of_name(std::string_view name);

// The words of a name as data/phases/names.tsv compares them, each with a space before and after
// it: so a pattern's "*" may stand for no word.
std::string words_of_name(std::string_view name);
// A glob for that, of words and "*".
std::string pattern_of_words(std::string_view words);

// What kind of work an op, a kernel or a Python function does (data/phases/ops.tsv).
enum class NamedCode : uint8_t { kOp, kKernel, kFrame, kMarker };
std::optional<PhaseKind> kind_of_code(NamedCode place, std::string_view name);

std::optional<PhaseKind> phase_kind_of_word(std::string_view word);

}  // namespace fathom
