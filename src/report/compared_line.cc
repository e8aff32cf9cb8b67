#include "report/compared_line.h"

#include <fmt/format.h>

#include "base/count_text.h"

namespace fathom {

std::string compared_line(const ComparedCounts& counts) {
  std::string out = fmt::format("expected vs measured: {} of {} within range, {}",
                                with_thousands(static_cast<int64_t>(counts.within)),
                                counted(counts.compared(), "quantity", "quantities"),
                                counted(counts.surprises, "surprise"));
  if (counts.not_comparable > 0)
    out += fmt::format("; {} not comparable",
                       with_thousands(static_cast<int64_t>(counts.not_comparable)));
  if (counts.not_measured > 0)
    out +=
        fmt::format("; {} not measured", with_thousands(static_cast<int64_t>(counts.not_measured)));
  return out;
}

}  // namespace fathom
