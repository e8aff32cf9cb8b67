#pragma once

#include "analyze/ranks/waits.h"

namespace fathom {

// Ranks that pass work on to each other by sends and receives.
struct PipelineStages {
  bool is_ring = false;                        // the last stage sends to the first: interleaved
  std::vector<std::optional<uint32_t>> stage;  // by rank; none: it takes no part
  uint32_t stages = 0;
  // By rank: time in sends and receives without computation, less their transfer.
  std::vector<Nanos> bubble;
};
// Nothing where no sends and receives match, or where they follow no chain.
std::optional<PipelineStages> find_pipeline(std::span<const RankFacts> ranks,
                                            const CollectiveMatches& matches);

// How evenly all-to-alls spread what they carry: tokens over experts.
struct ExpertBalance {
  size_t collectives = 0;
  double mean_imbalance = 1, worst_imbalance = 1;  // largest received over the mean of the ranks
  uint32_t most_loaded = 0;                        // rank, over all of them
  std::vector<double> received;                    // elements, by rank
};
// Nothing where no all-to-all has its sizes.
std::optional<ExpertBalance> measure_experts(std::span<const RankFacts> ranks,
                                             const CollectiveMatches& matches);

}  // namespace fathom
