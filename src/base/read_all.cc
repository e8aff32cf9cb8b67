#include "base/read_all.h"

#include <algorithm>

namespace fathom {

Result<WholeText> read_all(ByteSource& source, size_t limit) {
  constexpr size_t kFirst = 64 << 10, kPiece = 1 << 20;  // most files are small
  WholeText whole;
  while (true) {
    const size_t before = whole.text.size();
    // One byte over the limit tells whether there is more.
    const size_t wanted = std::min(std::clamp(before, kFirst, kPiece), limit + 1 - before);
    whole.text.resize(before + wanted);
    const size_t got = TRY(source.read(std::span(whole.text).subspan(before)));
    whole.text.resize(before + got);
    if (whole.text.size() > limit) {
      whole.text.resize(limit);
      whole.cut = true;
      return whole;
    }
    if (got < wanted) break;
  }
  whole.truncated = source.truncated();
  return whole;
}

}  // namespace fathom
