#include "story/access_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/text_parts.h"
#include "scan/facts/expression.h"
#include "scan/facts/pattern_ids.h"
#include "story/assumptions.h"

namespace fathom {
namespace {

constexpr int kLanes = 32;
constexpr double kSector = 32, kLine = 128, kBanks = 32, kWord = 4;

bool is_index_type(std::string_view type) {
  return holds(type, "int") || type == "size_t" || type == "bool" || type == "long" ||
         holds(type, "char");
}

std::string factor(const std::string& formula) {
  const bool sum = holds(formula, " + ") || holds(formula, " - ");
  return sum && !formula.starts_with("max(") ? "(" + formula + ")" : formula;
}

std::string bytes_text(const ArrayTraffic& traffic) {
  if (traffic.element_bytes) return std::to_string(*traffic.element_bytes);
  return traffic.type.empty() ? "dtype_bytes" : "sizeof(" + traffic.type + ")";
}

bool counts_as(const ArrayTraffic& traffic, AccessKind kind) {
  return traffic.kind == kind || traffic.kind == AccessKind::kAtomic;
}

// Elements of one array. Arrays that are indexed by a value that wraps around: no more elements
// than accesses.
struct Elements {
  double low = 0, high = 0;
};
std::optional<Elements> elements_of(const ArrayTraffic& traffic, const KernelValues& values,
                                    std::vector<std::string>& flags) {
  const bool open = traffic.elements.empty();
  const auto all = values.evaluate(open ? traffic.least : traffic.elements),
             least = values.evaluate(traffic.least.empty() ? "0" : traffic.least);
  if (!all || !least) return std::nullopt;
  Elements out{*least, *least};
  bool failed = false;
  for (const ArrayTraffic::Flagged& part : traffic.flagged) {
    const auto elements = values.evaluate(part.elements);
    const auto holds = part.condition.empty() ? std::nullopt : values.flag(part.condition);
    if (!elements) return std::nullopt;
    if (!part.condition.empty() && !holds) flags.push_back(part.condition);
    failed = failed || (holds && !*holds);
    if (holds && !*holds) continue;
    out.high += *elements;
    if (holds) out.low = std::max(out.low, *elements);
  }
  // Parts may be of the same elements: together they are no more than all.
  out.high = failed ? std::min(out.high, *all) : *all;
  if (const auto times = values.evaluate(traffic.times); times && !failed) {
    out.low = std::min(out.low, *times);
    out.high = std::min(out.high, *times);
  }
  return out;
}

// "N * C * 4 + 2 * C * sizeof(T)": arrays of the same length and type as one term.
std::string sum_of(const KernelFacts& kernel, AccessKind kind) {
  std::vector<std::pair<std::string, int>> terms;
  for (const ArrayTraffic& traffic : kernel.traffic) {
    if (!counts_as(traffic, kind)) continue;
    // Of an array whose whole extent is not known, the part that is.
    const std::string& elements = traffic.elements.empty() ? traffic.least : traffic.elements;
    if (elements.empty() || elements == "0") continue;
    std::string term = factor(elements) + " * " + bytes_text(traffic);
    const auto known = std::find_if(terms.begin(), terms.end(),
                                    [&](const auto& other) { return other.first == term; });
    if (known != terms.end()) {
      ++known->second;
    } else {
      terms.emplace_back(std::move(term), 1);
    }
  }
  std::string out;
  for (const auto& [term, count] : terms) {
    if (!out.empty()) out += " + ";
    out += count == 1 ? term : fmt::format("{} * {}", count, term);
  }
  return out.empty() ? "0" : out;
}

double bytes_of(const std::optional<uint32_t>& known, const KernelValues& values) {
  return known ? *known : values.element_bytes().value_or(4);
}

// The steps that shared memory takes for a warp: 16-byte accesses go by quarters of it, 8-byte ones
// by halves; in each step no bank gives two words.
double shared_wavefronts(const std::array<double, kLanes>& addresses, double bytes) {
  const int group = bytes >= 16 ? 8 : bytes >= 8 ? 16 : 32;
  double out = 0;
  for (int first = 0; first < kLanes; first += group) {
    std::map<double, std::set<double>> banks;
    for (int lane = first; lane < first + group; ++lane) {
      for (double byte = 0; byte < std::max(bytes, 1.0); byte += kWord) {
        const double word = std::floor((addresses[static_cast<size_t>(lane)] + byte) / kWord);
        banks[std::fmod(word, kBanks)].insert(word);
      }
    }
    size_t most = 1;
    for (const auto& [bank, words] : banks) most = std::max(most, words.size());
    out += static_cast<double>(most);
  }
  return out;
}

}  // namespace

std::optional<AccessModel> model_of_accesses(const KernelFacts& kernel, std::string& why) {
  if (kernel.traffic.empty()) {
    why = "no array access was resolved";
    return std::nullopt;
  }
  AccessModel out;
  bool writes = false;
  for (const ArrayTraffic& traffic : kernel.traffic) {
    writes = writes || traffic.kind != AccessKind::kRead;
    if (traffic.elements.empty()) {
      why =
          fmt::format("the extent of {} in line {} is unresolved", traffic.array, traffic.at.line);
      out.open_ends.push_back({OpenEnd::Kind::kUnresolvedExtent, traffic.array, traffic.at});
      if (traffic.least.empty() || traffic.least == "0") continue;
    }
    if (!contains(out.arrays, traffic.array)) out.arrays.push_back(traffic.array);
  }
  if (out.arrays.empty()) return std::nullopt;
  for (const ArrayAccess& access : kernel.accesses) {
    if (!access.shared && access.certainty == Certainty::kUnsure)
      out.open_ends.push_back({OpenEnd::Kind::kUnresolvedAccess, access.index, access.at});
  }
  for (const UnresolvedAccess& access : kernel.unresolved)
    out.open_ends.push_back({OpenEnd::Kind::kUnresolvedAccess, access.what, access.at});
  for (const CodeEvidence& evidence : kernel.evidence) {
    if (evidence.what != pattern_id::kTmaLoad) continue;
    out.open_ends.push_back({OpenEnd::Kind::kTileLoads, "", evidence.at});
    break;
  }
  if (!writes && out.open_ends.empty()) {
    why = "no write was resolved";
    return std::nullopt;
  }
  out.bytes_read = sum_of(kernel, AccessKind::kRead);
  out.bytes_written = sum_of(kernel, AccessKind::kWrite);
  out.flops = kernel.arithmetic;
  return out;
}

std::optional<AccessedBytes> accessed_bytes(const KernelFacts& kernel, AccessKind kind,
                                            const KernelValues& values) {
  AccessedBytes out;
  for (const ArrayTraffic& traffic : kernel.traffic) {
    if (!counts_as(traffic, kind)) continue;
    const auto elements = elements_of(traffic, values, out.flags);
    if (!elements) return std::nullopt;
    double size = 0;
    if (traffic.element_bytes) {
      size = *traffic.element_bytes;
    } else if (const auto known = values.evaluate(bytes_text(traffic))) {
      size = *known;
    } else {
      return std::nullopt;
    }
    out.low += elements->low * size;
    out.high += elements->high * size;
  }
  return out;
}

std::optional<CodeType> type_in_code(const KernelFacts& kernel) {
  std::optional<CodeType> out;
  for (const ArrayTraffic& traffic : kernel.traffic) {
    if (is_index_type(traffic.type)) continue;
    if (!traffic.element_bytes) return std::nullopt;
    if (out && out->bytes != *traffic.element_bytes) return std::nullopt;
    if (!out) out = CodeType{traffic.type, *traffic.element_bytes, traffic.at};
  }
  // A float4 is four floats.
  if (out && out->bytes >= 8 && out->type.starts_with("float")) out->bytes = 4;
  return out;
}

std::optional<WarpAccess> warp_access(const ArrayAccess& access, const KernelValues& values) {
  if (access.lane_index.empty()) return std::nullopt;
  const double element = bytes_of(access.element_bytes, values);
  const double bytes = std::max(element, access.access_bytes ? *access.access_bytes : element);
  std::array<double, kLanes> addresses{};
  std::set<double> sectors, lines;
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto index = evaluate(access.lane_index, [&](std::string_view name) {
      return name == "threadIdx.x" ? std::optional<double>(lane) : values.named(name);
    });
    if (!index) return std::nullopt;
    const double address = *index * element;
    addresses[static_cast<size_t>(lane)] = address;
    for (double byte = 0; byte < bytes; byte += 1) {
      sectors.insert(std::floor((address + byte) / kSector));
      lines.insert(std::floor((address + byte) / kLine));
    }
  }
  WarpAccess out;
  out.sectors = static_cast<double>(sectors.size());
  out.lines = static_cast<double>(lines.size());
  out.wavefronts = shared_wavefronts(addresses, bytes);
  return out;
}

std::optional<LoadStoreWork> load_store_work(const KernelFacts& kernel,
                                             const KernelValues& values) {
  if (kernel.accesses.empty()) return std::nullopt;
  LoadStoreWork out;
  double asked = 0, touched = 0, once_asked = 0, once_touched = 0;
  for (const ArrayAccess& access : kernel.accesses) {
    const auto times = values.evaluate(access.times);
    if (!times) return std::nullopt;
    const double element = bytes_of(access.element_bytes, values);
    const double bytes = std::max(element, access.access_bytes ? *access.access_bytes : element);
    const double moved = *times * element;
    const double warps = moved / bytes / kLanes;
    const double sure = access.conditional ? 0 : 1;
    out.bytes += moved;
    out.bytes_low += sure * moved;
    const double least = moved / kLine;
    const auto together = warp_access(access, values);
    if (access.shared) {
      const double each = together ? together->wavefronts : std::max(1.0, bytes * kLanes / kLine);
      // Neighbouring reads of an unrolled loop may become one wide one.
      const double merged = std::clamp(16 / bytes, 1.0, assumption("loads_in_flight"));
      out.wavefronts_low += sure * warps * each / merged;
      out.wavefronts_high += warps * each;
      out.shared_wavefronts += warps * each;
      const double free = std::max(1.0, bytes * kLanes / kLine);
      const int ways = static_cast<int>(each / free);
      if (together && ways > out.most_conflicts) {
        out.most_conflicts = ways;
        out.conflict = &access;
      }
      continue;
    }
    out.global_bytes += moved;
    if (!together) {
      out.wavefronts_low += sure * least;
      out.wavefronts_high += least;
      continue;
    }
    // A line's tag is looked up for each of them, four at a time at best.
    const double data = together->sectors * kSector / kLine;
    out.wavefronts_low += sure * warps * std::max({1.0, data, together->lines / 4});
    out.wavefronts_high += warps * std::max({1.0, data, together->lines});
    const double needed = together->sectors == 1 ? kSector : bytes * kLanes;
    asked += warps * needed;
    touched += warps * std::max(needed, together->sectors * kSector);
    if (access.loop != 0 || access.pattern == AccessPattern::kThroughIndex) continue;
    once_asked += warps * needed;
    once_touched += warps * std::max(needed, together->sectors * kSector);
  }
  if (once_asked > 0) out.scattered = std::max(1.0, once_touched / once_asked);
  if (asked > 0) out.wasted = std::max(1.0, touched / asked);
  return out;
}

}  // namespace fathom
