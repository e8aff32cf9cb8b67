#include "story/host_expectation.h"

#include <algorithm>

#include "base/text_parts.h"
#include "scan/facts/expression.h"
#include "scan/facts/pattern_ids.h"
#include "story/assumptions.h"

namespace fathom {
namespace {

const CodeEvidence* find(const HostFacts& host, std::string_view what,
                         std::string_view detail = "") {
  for (const CodeEvidence& evidence : host.evidence) {
    if (evidence.what == what && holds(evidence.detail, detail)) return &evidence;
  }
  return nullptr;
}

class HostExpecter {
 public:
  HostExpecter(const Parameters& parameters, const Platform* platform)
      : parameters_(parameters), platform_(platform) {}

  HostExpectation run(const HostFacts& host) {
    if (find(host, pattern_id::kPrefixCompare) != nullptr) compare();
    if (find(host, pattern_id::kNcclCollective, "AllReduce") != nullptr) all_reduce(host);
    if (find(host, pattern_id::kNcclCollective, "AllGather") != nullptr) all_gather();
    return std::move(out_);
  }

 private:
  std::optional<double> value(const char* name) {
    const auto known = parameters_.evaluate_formula(name);
    if (!known && !contains(out_.missing, name)) out_.missing.emplace_back(name);
    return known;
  }

  void add(std::string name, std::string unit, std::string formula, std::optional<double> low,
           std::optional<double> high) {
    out_.estimates.push_back({std::move(name), std::move(unit), std::move(formula), low, high});
  }

  // The loop ends at the first difference, which keeps compilers from vectorising it.
  void compare() {
    out_.title = "comparison of two sequences on one CPU core";
    const auto length = value("prefix_len");
    const double element = parameters_.evaluate_formula("element_bytes").value_or(4);
    std::optional<double> bytes, fast, slow;
    if (length) {
      bytes = 2 * *length * element;
      fast = *length / assumption("host_clock");
      slow = *length * assumption("scalar_cycles_per_element") / assumption("host_clock");
    }
    add("bytes read", "B", "2 * prefix_len * element_bytes (4 where not given)", bytes, bytes);
    add("instructions per element", "",
        "two loads, a compare, a branch, an increment: the early exit keeps it scalar", 4, 5);
    add("fits the L1 cache (32 KB)", "", "1 where 2 * prefix_len * element_bytes <= 32768",
        bytes ? std::optional<double>(*bytes <= 32768) : bytes,
        bytes ? std::optional<double>(*bytes <= 32768) : bytes);
    out_.estimates.back().quantity = Quantity::kYesOrNo;
    add("time", "s", "prefix_len × 1 to 2 cycles / 3 GHz", fast, slow);
  }

  void all_reduce(const HostFacts& host) {
    out_.title = "all-reduce";
    const auto bytes = value("bytes"), ranks = value("world_size"), link = value("link_bandwidth");
    const bool copies =
        std::any_of(host.evidence.begin(), host.evidence.end(), [](const CodeEvidence& evidence) {
          return evidence.what == pattern_id::kNcclCollective && !evidence.subject.empty();
        });
    std::optional<double> wire, time_low, time_high, copy;
    if (bytes && ranks) wire = 2 * (*ranks - 1) / *ranks * *bytes;
    add("bytes that each GPU sends", "B", "2 * (world_size - 1) / world_size * bytes", wire, wire);
    if (wire && link) {
      time_low = *wire / *link;
      time_high = *wire / *link / assumption("bandwidth_share") + assumption("collective_latency");
    }
    const auto bandwidth =
        platform_ == nullptr ? std::nullopt : limit_of(platform_->memory_bandwidth);
    if (copies && bytes && bandwidth) copy = 2 * 2 * *bytes / bandwidth->rate;
    if (copies)
      add("copies in and out", "s", "2 copies × 2 * bytes / memory bandwidth", copy, copy);
    if (time_low && copy) {
      *time_low += *copy;
      *time_high += *copy;
    }
    add("time", "s",
        "bytes sent / link_bandwidth, at most / 0.6 + 8 µs, with the copies; for 2 GPUs bus and "
        "algorithm bandwidth are equal",
        time_low, time_high);
  }

  void all_gather() {
    out_.title = "all-gather";
    const auto bytes = value("bytes"), ranks = value("world_size"), link = value("link_bandwidth");
    std::optional<double> wire, low, high;
    if (bytes && ranks) wire = (*ranks - 1) / *ranks * *bytes;
    if (wire && link) {
      low = *wire / *link;
      high = *wire / *link / assumption("bandwidth_share") + assumption("collective_latency");
    }
    add("bytes that each GPU sends", "B", "(world_size - 1) / world_size * bytes of the result",
        wire, wire);
    add("time", "s", "bytes sent / link_bandwidth, at most / 0.6 + 8 µs", low, high);
  }

  const Parameters& parameters_;
  const Platform* platform_;
  HostExpectation out_;
};

}  // namespace

HostExpectation expect_of(const HostFacts& host, const Parameters& parameters,
                          const Platform* platform) {
  return HostExpecter(parameters, platform).run(host);
}

}  // namespace fathom
