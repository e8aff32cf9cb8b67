#include "ingest/ncu/metric_units.h"

namespace fathom::ncu {
namespace {

struct Scaled {
  std::string_view base;
  double factor;
};

struct TimeUnit {
  std::string_view word;
  double nanos;
};
constexpr TimeUnit kTimes[] = {{"ns", 1},    {"nsecond", 1},   {"us", 1e3},      {"usecond", 1e3},
                               {"ms", 1e6},  {"msecond", 1e6}, {"s", 1e9},       {"second", 1e9},
                               {"sec", 1e9}, {"ps", 1e-3},     {"psecond", 1e-3}};

// Nsight Compute's prefixes are powers of 1000, also of bytes.
constexpr std::string_view kPrefixed[] = {"byte", "hz",     "Hz",      "inst", "sector", "cycle",
                                          "warp", "thread", "request", "flop", "op"};

Scaled scaled(std::string_view word) {
  if (!word.empty()) {
    const double factor = word[0] == 'K' || word[0] == 'k' ? 1e3
                          : word[0] == 'M'                 ? 1e6
                          : word[0] == 'G'                 ? 1e9
                          : word[0] == 'T'                 ? 1e12
                          : word[0] == 'P'                 ? 1e15
                                                           : 1;
    for (const std::string_view base : kPrefixed) {
      if (factor > 1 && word.substr(1) == base) return {base == "Hz" ? "hz" : base, factor};
    }
  }
  return {word == "Hz" ? "hz" : word, 1};
}

const TimeUnit* time_unit(std::string_view word) {
  for (const TimeUnit& unit : kTimes) {
    if (unit.word == word) return &unit;
  }
  return nullptr;
}

}  // namespace

BaseUnit base_unit(std::string_view printed) {
  const size_t slash = printed.find('/');
  const std::string_view above = printed.substr(0, slash);
  BaseUnit unit;
  if (const TimeUnit* time = time_unit(above)) {
    unit = {"ns", time->nanos};
  } else {
    const Scaled numerator = scaled(above);
    unit = {std::string(numerator.base), numerator.factor};
  }
  if (slash == std::string_view::npos) return unit;
  const std::string_view below = printed.substr(slash + 1);
  if (const TimeUnit* time = time_unit(below)) {
    unit.factor *= 1e9 / time->nanos;
    if (unit.name == "cycle") return {"hz", unit.factor};
    unit.name += "/s";
  } else {
    const Scaled denominator = scaled(below);
    unit.factor /= denominator.factor;
    (unit.name += '/') += denominator.base;
  }
  return unit;
}

std::string_view unit_by_name(std::string_view metric) {
  const auto has = [metric](std::string_view part) {
    return metric.find(part) != std::string_view::npos;
  };
  // ncu's own sums, whose names do not tell; and properties, which it prints without a unit.
  if (metric.starts_with("derived__") || metric.starts_with("device__")) return {};
  if (has(".pct") || metric.ends_with("_pct")) return "%";
  const bool per_second = metric.ends_with(".per_second");
  if (has("cycles_elapsed") && per_second) return "hz";
  if (has("shared_mem_per_block") && !has("occupancy")) return "byte/block";
  if (has("_per_") && !per_second) return {};  // a ratio of something else
  if (metric.ends_with("_time") || has("time_duration")) return "ns";
  if (has(".per_cycle") || has(".peak_sustained") || has(".ratio") || has("_rate")) return {};
  if (has("bytes") || metric.ends_with("cache_size") || metric.ends_with("shared_mem_config_size"))
    return per_second ? "byte/s" : "byte";
  return {};
}

}  // namespace fathom::ncu
