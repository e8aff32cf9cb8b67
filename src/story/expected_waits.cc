#include "story/expected_waits.h"

#include <algorithm>
#include <cmath>

#include "scan/facts/pattern_ids.h"
#include "story/assumptions.h"
#include "story/serial_waits.h"

namespace fathom {
namespace {

// Atomics on one element wait for one another. How many meet is known where no memory decides
// it, and how long one takes where the hardware has the operation.
double contention(const KernelFacts& kernel, const KernelValues& values,
                  std::vector<OpenEnd>& open_ends) {
  double out = 0;
  for (const ArrayTraffic& traffic : kernel.traffic) {
    if (traffic.kind != AccessKind::kAtomic) continue;
    const auto elements = values.evaluate(traffic.elements), times = values.evaluate(traffic.times);
    const bool through_index =
        std::any_of(kernel.accesses.begin(), kernel.accesses.end(), [&](const ArrayAccess& access) {
          return access.kind == AccessKind::kAtomic && access.array == traffic.array &&
                 access.pattern == AccessPattern::kThroughIndex;
        });
    const bool native = traffic.element_bytes && *traffic.element_bytes >= 4;
    if (!elements || !times || *elements <= 0 || through_index || !native) {
      open_ends.push_back({OpenEnd::Kind::kAtomics, traffic.array, traffic.at});
      return 0;
    }
    out = std::max(out, *times / *elements * assumption("same_address_atomic"));
  }
  return out;
}

// The widest access that the code is sure to make, else one element.
double access_bytes(const KernelFacts& kernel, const KernelValues& values) {
  double bytes = values.element_bytes().value_or(4);
  for (const CodeEvidence& evidence : kernel.evidence) {
    if (evidence.what == pattern_id::kVectorAccess && evidence.bytes &&
        evidence.certainty != Certainty::kUnsure)
      bytes = std::max(bytes, static_cast<double>(*evidence.bytes));
  }
  return bytes;
}

}  // namespace

ExpectedWaits expect_waits(const WaitingKernel& of, std::vector<OpenEnd>& open_ends) {
  const double wait = assumption("memory_latency");
  ExpectedWaits out{0, of.model.reads * wait, 0};
  if (!of.launch || !of.launch->blocks || !of.launch->threads) return out;
  const double threads = *of.launch->threads, blocks = *of.launch->blocks;
  double waves = 1, least_waves = 1;
  if (of.platform.compute_units) {
    const double at_once =
        static_cast<double>(*of.platform.compute_units) *
        std::max(1.0, std::min(kUnitBlocks, std::floor(kUnitWarps * kWarpThreads / threads)));
    least_waves = std::max(1.0, blocks / at_once);
    waves = std::ceil(least_waves);
  }
  if (!of.model.by_accesses) {
    const double each = of.bytes_read / threads / blocks / access_bytes(of.kernel, of.values);
    out.high += wait * (std::max(0.0, each / assumption("loads_in_flight") - 1) + waves - 1);
    return out;
  }
  const SerialWaits serial = serial_waits(of.kernel, of.values);
  if (!serial.known) open_ends.push_back({OpenEnd::Kind::kUnknownRounds});
  out.high += contention(of.kernel, of.values, open_ends);
  out.rounds = serial.most_rounds;
  out.low = serial.low * least_waves;
  out.high = std::max(out.high, serial.high) * waves;
  return out;
}

}  // namespace fathom
