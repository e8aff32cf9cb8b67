#pragma once

#include <optional>
#include <string_view>

#include "events/event_store.h"

namespace fathom {

// What a collective moves: the convention of nccl-tests.
struct CollectiveMessage {
  std::optional<double> bytes;      // the larger of what goes in and what comes out
  std::optional<double> bus_bytes;  // that each link carries: 2(n-1)/n of an all-reduce's message
};
CollectiveMessage message_of(const EventStore& store, const Collective& collective);

enum class CollectiveKind : uint8_t {
  kAllReduce,
  kAllGather,
  kReduceScatter,
  kAllToAll,
  kBroadcast,
  kReduce,
  kGather,
  kScatter,
  kBarrier,
  kSend,
  kReceive,
  kSendReceive,  // a kernel that says only that it is one of the two
  kOther
};
// "allreduce", "_allgather_base", "gloo:all_reduce", "AllReduce", and kernels named after them.
CollectiveKind collective_kind(std::string_view name);
// For programs: "all_reduce".
std::string_view collective_kind_name(CollectiveKind kind);
// Whether it ends on no rank before the last has begun.
bool is_synchronizing(CollectiveKind kind);

// What a link carries for each byte of the message, in a ring of n ranks.
std::optional<double> bus_factor(std::string_view collective, std::optional<int64_t> ranks);

}  // namespace fathom
