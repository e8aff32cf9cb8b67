// What a collective over n GPUs should take: a step costs α, each byte through a link 1/bandwidth.
// Ring and tree alone; nothing here is measured.
#pragma once

#include <cstdint>
#include <optional>

namespace fathom::nccl {

enum class Collective { kAllReduce, kAllGather };
enum class Algorithm { kRing, kTree };

struct Link {
  double step_seconds = 0.0;      // α: one send, launch and synchronisation included
  double bytes_per_second = 0.0;  // of one GPU, in one direction; over 0
};

struct Expectation {
  Algorithm algorithm = Algorithm::kRing;
  double seconds = 0.0;
  // bytes / seconds, and what of that the links carry, so that it compares with their speed;
  // nothing where no time passes or, on one GPU, no link is used.
  std::optional<double> algorithm_bandwidth, bus_bandwidth;
};

// Link bytes for each byte of the collective: all-reduce 2(n−1)/n, all-gather (n−1)/n.
double bus_factor(Collective collective, int gpus);

// `bytes` as NCCL's tests count them: the buffer of an all-reduce, the whole output of an
// all-gather. Ring all-reduce: 2(n−1) steps of bytes/n; ring all-gather: n−1 of them. Tree
// all-reduce: 2⌈log₂ n⌉ steps, pipelined over two trees of half the bytes, in which a GPU is an
// inner node of one and sends it up once and down twice, and a leaf of the other: 2 · bytes (with
// two GPUs: bytes). Nothing for an all-gather by tree, and for less than one GPU.
std::optional<Expectation> expect(Collective collective, Algorithm algorithm, int gpus,
                                  uint64_t bytes, const Link& link);
// The faster of the two; ring where they tie.
std::optional<Expectation> expect_best(Collective collective, int gpus, uint64_t bytes,
                                       const Link& link);

// Up to so many bytes a ring all-reduce is slower than a tree: 0 where it never is.
double tree_wins_up_to_bytes(int gpus, const Link& link);

// Copies into and out of a registered buffer read and write every byte twice. They pay while that
// takes less than what the registered buffer saves.
double staging_pays_up_to_bytes(double saved_seconds, double memory_bytes_per_second);

}  // namespace fathom::nccl
