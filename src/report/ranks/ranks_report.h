#pragma once

#include <string>
#include <vector>

#include "analyze/ranks/compare_ranks.h"
#include "report/report_listing.h"
#include "report/screen.h"

namespace fathom {

// Several ranks side by side, for every renderer.
struct RanksView {
  const RankComparison& comparison;
  const std::vector<std::string>& unread;  // why traces could not be read
};

// What the ranks say, in sentences. Plain text: each renderer makes names inert its own way.
struct RankSentences {
  std::string verdict;           // who is late
  std::vector<std::string> why;  // of the late rank
  std::string clocks;
  std::vector<std::string> refused_clocks;                // a rank and the reason
  std::string balance, overlap, path, pipeline, experts;  // empty: nothing to say
  std::vector<std::string> notes;                         // what is missing or was left out
};
RankSentences rank_sentences(const RanksView& view);

// Names of a part for readers: "idle: late launch".
std::string rank_part_words(size_t part);

// One screen, whatever the number of ranks.
std::string ranks_text(const RanksView& view, const TerminalStyle& style,
                       const ReportListing& written);
std::string ranks_markdown(const RanksView& view);
std::string ranks_json(const RanksView& view, const ReportListing& written);
// Ranks × time, light or dark as the reader's screen is; empty: nothing to draw.
std::string ranks_drawing(const RankComparison& comparison);

}  // namespace fathom
