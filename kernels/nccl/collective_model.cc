#include "collective_model.h"

#include <algorithm>
#include <bit>

namespace fathom::nccl {

namespace {

// Steps, and bytes that one GPU sends for each byte of the collective.
struct Work {
  double steps = 0.0, sent = 0.0;
};

double tree_depth(int gpus) {
  return static_cast<double>(std::bit_width(static_cast<unsigned>(gpus - 1)));
}

std::optional<Work> work_of(Collective collective, Algorithm algorithm, int gpus) {
  if (gpus < 1) return std::nullopt;
  const double factor = bus_factor(collective, gpus);
  if (algorithm == Algorithm::kRing) {
    const double rounds = collective == Collective::kAllReduce ? 2.0 : 1.0;
    return Work{rounds * (gpus - 1), factor};
  }
  if (collective != Collective::kAllReduce) return std::nullopt;
  return Work{2.0 * tree_depth(gpus), gpus <= 2 ? factor : 2.0};
}

}  // namespace

double bus_factor(Collective collective, int gpus) {
  if (gpus < 1) return 0.0;
  const double share = static_cast<double>(gpus - 1) / gpus;
  return collective == Collective::kAllReduce ? 2.0 * share : share;
}

std::optional<Expectation> expect(Collective collective, Algorithm algorithm, int gpus,
                                  uint64_t bytes, const Link& link) {
  const std::optional<Work> work = work_of(collective, algorithm, gpus);
  if (!work || !(link.bytes_per_second > 0.0)) return std::nullopt;
  const auto size = static_cast<double>(bytes);
  Expectation expected{algorithm, 0.0, std::nullopt, std::nullopt};
  expected.seconds = work->steps * link.step_seconds + work->sent * size / link.bytes_per_second;
  if (expected.seconds > 0.0) {
    expected.algorithm_bandwidth = size / expected.seconds;
    expected.bus_bandwidth = *expected.algorithm_bandwidth * bus_factor(collective, gpus);
  }
  return expected;
}

std::optional<Expectation> expect_best(Collective collective, int gpus, uint64_t bytes,
                                       const Link& link) {
  const auto ring = expect(collective, Algorithm::kRing, gpus, bytes, link);
  const auto tree = expect(collective, Algorithm::kTree, gpus, bytes, link);
  return ring && tree && tree->seconds < ring->seconds ? tree : ring;
}

double tree_wins_up_to_bytes(int gpus, const Link& link) {
  const auto ring = work_of(Collective::kAllReduce, Algorithm::kRing, gpus);
  const auto tree = work_of(Collective::kAllReduce, Algorithm::kTree, gpus);
  if (!ring || !tree || tree->sent <= ring->sent) return 0.0;
  const double saved = (ring->steps - tree->steps) * link.step_seconds;
  return std::max(0.0, saved * link.bytes_per_second / (tree->sent - ring->sent));
}

double staging_pays_up_to_bytes(double saved_seconds, double memory_bytes_per_second) {
  return std::max(0.0, saved_seconds) * memory_bytes_per_second / 4.0;
}

}  // namespace fathom::nccl
