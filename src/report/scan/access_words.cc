#include "report/scan/access_words.h"

namespace fathom {
namespace {

std::string_view pattern_words(AccessPattern pattern) {
  switch (pattern) {
    case AccessPattern::kNone:
      return "";
    case AccessPattern::kUnknown:
      return "unknown";
    case AccessPattern::kThroughIndex:
      return "indexed (gather or scatter)";
    case AccessPattern::kSameForAll:
      return "uniform across threads";
    case AccessPattern::kSameForWarp:
      return "uniform within a warp";
    case AccessPattern::kColumnsOfRow:
      return "coalesced, threads step through a row";
    case AccessPattern::kNeighboursByRound:
      return "coalesced, once per loop iteration";
    case AccessPattern::kOnePerThread:
      return "coalesced, one element per thread";
    case AccessPattern::kStrided:
      return "strided between threads";
    case AccessPattern::kOnePerProgram:
      return "one element per program";
    case AccessPattern::kTilePerProgram:
      return "one tile per program";
  }
  return "";
}

}  // namespace

std::string access_words(const ArrayAccess& access) {
  const std::string words(pattern_words(access.pattern));
  return access.again_in_loop ? words + ", repeated in each loop iteration" : words;
}

}  // namespace fathom
