#include "ingest/ncu/launch_facts.h"

#include <charconv>
#include <cmath>

namespace fathom::ncu {
namespace {

// As metrics are named, and as the details page calls them.
enum class Fact : uint8_t {
  kGridX,
  kGridY,
  kGridZ,
  kGridSize,
  kBlockX,
  kBlockY,
  kBlockZ,
  kBlockSize,
  kClusterX,
  kClusterY,
  kClusterZ,
  kRegisters,
  kStaticShared,
  kDynamicShared,
  kDevice,
  kStream,
  kContext,
  kPasses,
  kDuration
};
struct FactName {
  std::string_view metric;
  Fact fact;
};
constexpr FactName kFacts[] = {
    {"launch__grid_dim_x", Fact::kGridX},
    {"launch__grid_dim_y", Fact::kGridY},
    {"launch__grid_dim_z", Fact::kGridZ},
    {"launch__grid_size", Fact::kGridSize},
    {"Grid Size", Fact::kGridSize},
    {"launch__block_dim_x", Fact::kBlockX},
    {"launch__block_dim_y", Fact::kBlockY},
    {"launch__block_dim_z", Fact::kBlockZ},
    {"launch__block_size", Fact::kBlockSize},
    {"Block Size", Fact::kBlockSize},
    {"launch__cluster_dim_x", Fact::kClusterX},
    {"launch__cluster_dim_y", Fact::kClusterY},
    {"launch__cluster_dim_z", Fact::kClusterZ},
    {"launch__registers_per_thread", Fact::kRegisters},
    {"Registers Per Thread", Fact::kRegisters},
    {"launch__shared_mem_per_block_static", Fact::kStaticShared},
    {"Static Shared Memory Per Block", Fact::kStaticShared},
    {"launch__shared_mem_per_block_dynamic", Fact::kDynamicShared},
    {"Dynamic Shared Memory Per Block", Fact::kDynamicShared},
    {"launch__device_id", Fact::kDevice},
    {"launch__stream_id", Fact::kStream},
    {"launch__context_id", Fact::kContext},
    {"profiler__replayer_passes", Fact::kPasses},
    {"gpu__time_duration.sum", Fact::kDuration},
    {"gpu__time_duration.avg", Fact::kDuration},
    {"Duration", Fact::kDuration},
};

void set_dim(std::optional<Dim3>& dims, uint32_t Dim3::* part, int64_t value) {
  if (value < 0 || value > UINT32_MAX) return;
  if (!dims) dims = Dim3{};
  (*dims).*part = static_cast<uint32_t>(value);
}

void apply(Fact fact, int64_t value, CounterRow& row) {
  switch (fact) {
    case Fact::kGridX:
      return set_dim(row.grid, &Dim3::x, value);
    case Fact::kGridY:
      return set_dim(row.grid, &Dim3::y, value);
    case Fact::kGridZ:
      return set_dim(row.grid, &Dim3::z, value);
    case Fact::kBlockX:
      return set_dim(row.block, &Dim3::x, value);
    case Fact::kBlockY:
      return set_dim(row.block, &Dim3::y, value);
    case Fact::kBlockZ:
      return set_dim(row.block, &Dim3::z, value);
    case Fact::kClusterX:
      return set_dim(row.cluster, &Dim3::x, value);
    case Fact::kClusterY:
      return set_dim(row.cluster, &Dim3::y, value);
    case Fact::kClusterZ:
      return set_dim(row.cluster, &Dim3::z, value);
    case Fact::kGridSize:
      row.grid_blocks = value;
      return;
    case Fact::kBlockSize:
      row.block_threads = value;
      return;
    case Fact::kRegisters:
      row.registers = value;
      return;
    case Fact::kStaticShared:
      row.static_shared = value;
      return;
    case Fact::kDynamicShared:
      row.dynamic_shared = value;
      return;
    case Fact::kDevice:
      row.device = value;
      return;
    case Fact::kStream:
      row.stream = value;
      return;
    case Fact::kContext:
      row.context = value;
      return;
    case Fact::kPasses:
      row.passes = value;
      return;
    case Fact::kDuration:
      row.duration = Nanos{value};
      return;
  }
}

bool is_launched(const std::optional<Dim3>& dims) {
  return dims && dims->x > 0 && dims->y > 0 && dims->z > 0;
}

}  // namespace

void add_launch_fact(std::string_view metric, double value, CounterRow& row) {
  constexpr double kLargest = 9e15;  // whole numbers are exact below
  if (!(value >= 0 && value <= kLargest)) return;
  for (const FactName& known : kFacts) {
    if (known.metric == metric) return apply(known.fact, std::llround(value), row);
  }
}

std::optional<Dim3> parse_dims(std::string_view text) {
  Dim3 dims;
  uint32_t* const parts[] = {&dims.x, &dims.y, &dims.z};
  size_t at = 0;
  for (uint32_t* part : parts) {
    at = text.find_first_of("0123456789", at);
    if (at == std::string_view::npos) return {};
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), *part);
    if (error != std::errc()) return {};
    at = static_cast<size_t>(end - text.data());
  }
  return dims;
}

void finish_launch(CounterRow& row) {
  for (std::optional<Dim3>* dims : {&row.grid, &row.block, &row.cluster}) {
    if (!is_launched(*dims)) dims->reset();
  }
}

}  // namespace fathom::ncu
