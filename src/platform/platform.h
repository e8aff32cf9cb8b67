#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fathom {

// Where a number comes from, with a few words that say which one.
struct Source {
  // kDerived: by the share of its peak that another GPU with the same chip reaches.
  enum class Kind : uint8_t { kDatasheet, kMeasured, kDerived, kAssumed, kFile };
  Kind kind = Kind::kAssumed;
  std::string where;

  bool operator==(const Source&) const = default;
};
std::string_view source_kind_name(Source::Kind kind);  // "datasheet", …

// What a GPU does in a second: bytes, or operations of dense data, where a multiply-add counts 2.
struct Rate {
  std::optional<double> peak, achievable;
  Source peak_source, achievable_source;  // meaningless where the value is unknown
  bool halved = false;  // the vendor gives this peak with 2:4 sparsity only; this is half of it
  // What the peak consists of, where it is published: operations per clock in one compute unit, and
  // the clock in Hz, which for matrix units may lie below the boost clock.
  std::optional<double> per_clock, clock;

  bool known() const { return peak || achievable; }
  bool operator==(const Rate&) const = default;
};

// The rate that work is held against: what is achievable where that is known, else the peak.
struct Limit {
  double rate = 0;
  bool achievable = false;  // false: the peak
  Source source;
};
std::optional<Limit> limit_of(const Rate& rate);

struct ComputeSpec {
  std::string name;  // "matrix_bf16", "vector_fp32"
  Rate rate;         // operations per second; of int8, integer operations

  bool operator==(const ComputeSpec&) const = default;
};
// Every name that data/platforms uses, in the order in which reports list them.
std::span<const std::string_view> compute_spec_names();
// "FLOP/s", or "OP/s" for integers.
std::string_view compute_unit_of(std::string_view spec);

// What one GPU can send to others, or to the host.
struct Link {
  std::string name;             // "nvlink", "infinity_fabric" or "pcie"
  double bytes_per_second = 0;  // in one direction, over all links of a GPU
  std::string where;

  bool operator==(const Link&) const = default;
};

struct Platform {
  std::string name, vendor, architecture;  // vendor and architecture may be empty: unknown
  std::string unit_name;                   // "SM" or "CU"
  std::optional<int64_t> compute_units, memory_bytes;
  std::string memory_type;            // "HBM3", "GDDR6X"; empty: unknown
  std::optional<double> boost_clock;  // Hz
  Source source;                      // of units, memory and clock
  Rate memory_bandwidth;
  std::vector<ComputeSpec> specs;
  std::vector<Link> links;  // the fastest first

  // Null where nothing is known of that spec.
  const Rate* find(std::string_view spec) const;
  bool operator==(const Platform&) const = default;
};

// What a trace tells of the GPU it ran on.
struct DeviceDescription {
  std::string_view name;  // "NVIDIA H100 80GB HBM3"
  std::optional<int64_t> memory_bytes, compute_units;
  std::string capability = {};  // "9.0"; AMD's gfx942 is 9.4; empty: unknown
};

class Platforms {
 public:
  // Those of data/platforms, compiled in.
  static const Platforms& built_in();

  Platforms(std::string_view gpus_tsv, std::string_view rates_tsv, std::string_view links_tsv = {});

  const std::vector<Platform>& all() const { return platforms_; }

  // By the name that a user types: "h200", "a100-80gb-sxm", "H100 SXM". One that fits several is
  // refused with their names.
  Result<const Platform*> find(std::string_view name) const;

  // Null where no platform fits, or more than one, or the device is only a slice of a GPU. A device
  // without a name, or with one that tells no model, is known by its units and memory.
  const Platform* detect(const DeviceDescription& device) const;
  // Every platform that fits: of one, detect() is that one; of several, the user has to choose.
  std::vector<const Platform*> candidates(const DeviceDescription& device) const;

 private:
  void add_rate(std::string_view gpus, std::string_view what, const Rate& rate);
  void add_link(std::string_view gpus, const Link& link);

  std::vector<Platform> platforms_;
  std::vector<std::vector<std::string>> devices_;  // for each platform, patterns of driver names
};

// A platform of the user's own: JSON, either what platform_json writes or TraceLens's form
// {"name", "mem_bw_gbps", "memory_gb", "max_achievable_tflops": {"matrix_bf16": …}}.
// Values have the file as their source where it names no other.
Result<Platform> load_platform_file(const std::string& path);
Result<Platform> parse_platform(std::string_view json, const std::string& path);

// A built-in platform by name, or a file: what --platform takes.
Result<Platform> open_platform(const std::string& name_or_path);

// Rates in bytes and operations per second, clocks in Hz: what load_platform_file reads back.
std::string platform_json(const Platform& platform);
std::string platforms_json(std::span<const Platform> platforms);

}  // namespace fathom
