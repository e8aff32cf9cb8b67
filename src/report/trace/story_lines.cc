#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/count_text.h"
#include "base/utf8.h"
#include "report/trace/story_words.h"

namespace fathom {

namespace {

// Of the recording, of phases, their events and single kernels.
class Sentence : LineWords {
  using Kind = StoryLineKind;
  using Topic = StoryTopic;

 public:
  Sentence(const StoryLine& line, const NameStyle& name) : LineWords(line, name) {}

  std::string make() const {
    switch (l_.kind) {
      case Kind::kRecording:
        return recording();
      case Kind::kGpus:
        return gpus();
      case Kind::kModel:
        return fmt::format("Model {}", named(0));
      case Kind::kCounterFile:
        return fmt::format("Counters of {}: {} of {} launches joined with kernels of the trace",
                           named(0), count("joined"), count("launches"));
      case Kind::kDoubtfulFile:
        return fmt::format("Counters of {}: {} of {} launches joined: {}", named(0),
                           count("joined"), count("launches"), named(1));
      case Kind::kFlaw:
        return fmt::format("{}{}: {}{}", l_.name(2).empty() ? "" : named(2) + ": ", l_.name(0),
                           l_.name(1), value("count") > 1 ? " (" + count("count") + ")" : "");
      case Kind::kThrottled:
        return throttled();
      case Kind::kClocks:
        return clocks();
      case Kind::kPhaseRuns:
        return phase_runs();
      case Kind::kTokens:
        return fmt::format("GEMMs have {} {} (M×N×K {}×{}×{})", count("rows"),
                           noun(static_cast<uint64_t>(value("rows")), "row"), count("rows"),
                           count("n"), count("k"));
      case Kind::kIdleInPhase:
        return idle_in_phase();
      case Kind::kFirstRun:
        return first_run();
      case Kind::kSlowestRun:
        return fmt::format("Slowest run is number {}: {:.1f} × the median ({}){}", count("number"),
                           value("ratio"), time("time"), deviation_cause());
      case Kind::kOverlapped:
        return fmt::format("{} of its GPU time ({}) overlaps other work and is counted there",
                           percent("share"), time("time"));
      case Kind::kMoreBlocks:
        return fmt::format("{} more GPU {}{}", count("count"),
                           noun(static_cast<uint64_t>(value("count")), "event"),
                           has("share") ? fmt::format(": {} of busy", percent("share")) : "");
      case Kind::kBlock:
        return block();
      default:
        return hardware();
    }
  }

 private:
  std::string recording() const {
    std::string out;
    for (const size_t place : {0, 1})
      if (!l_.name(place).empty())
        out += fmt::format("{}{}", out.empty() ? "" : " · ", named(place));
    if (!out.empty()) out += "; ";
    const bool has_gpu_work = value("kernels") > 0 || has("busy");
    out += has_gpu_work ? counted(static_cast<uint64_t>(value("kernels")), "kernel")
                        : std::string("no GPU work recorded");
    if (has("length")) out += " in " + time("length");
    if (has("busy")) out += fmt::format(", GPU busy {}", percent("busy"));
    return out;
  }

  std::string gpus() const {
    std::string others;
    double left = value("count") - 1;
    for (const auto& [device, busy] :
         {std::pair("device_1", "busy_1"), {"device_2", "busy_2"}, {"device_3", "busy_3"}}) {
      if (!has(device)) break;
      --left;
      others +=
          fmt::format("{}GPU {} busy {}", others.empty() ? "" : ", ", count(device), time(busy));
    }
    if (left > 0) others += fmt::format(", {} more", story_count(left));
    return fmt::format("Story of GPU {}, one of {} GPUs with work. Others: {}; --device N chooses",
                       count("told"), count("count"), others);
  }

  std::string clocks() const {
    std::string out = "While kernels ran:";
    if (has("sm_clock")) out += fmt::format(" SM clock {:.0f} MHz", value("sm_clock"));
    if (has("power")) out += fmt::format("{} {:.0f} W", has("sm_clock") ? "," : "", value("power"));
    if (value("power_cap") >= 1) out += fmt::format("; power cap in {}", percent("power_cap"));
    if (value("thermal") >= 1) out += fmt::format("; thermal slowdown in {}", percent("thermal"));
    return out;
  }

  std::string phase_runs() const {
    const double runs = value("runs");
    if (value("median") <= 0)
      return counted(static_cast<uint64_t>(value("kernels")), "GPU event") + ", durations unknown";
    std::string out;
    if (runs == 1) {
      out = fmt::format("1 run of {}", time("median"));
    } else if (!has("steady")) {
      out = fmt::format("{} runs, median {}", count("runs"), time("median"));
    } else {
      out = value("steady") == 1
                ? fmt::format("2 runs, the second of {}", time("median"))
                : fmt::format("{} runs, median {} after the first", count("runs"), time("median"));
    }
    if (has("shortest")) out += fmt::format(" ({} to {})", time("shortest"), time("longest"));
    if (has("p95")) out += fmt::format(", p95 {}", time("p95"));
    out += fmt::format("; {}{}", counted(static_cast<uint64_t>(value("kernels")), "GPU event"),
                       runs == 1 ? "" : " each");
    if (has("busy")) out += fmt::format(", GPU busy {}", percent("busy"));
    return out;
  }

  std::string first_run() const {
    std::string out = fmt::format(
        "First run {:.1f} × the median of the others ({}): ", value("ratio"), time("time"));
    if (has("busy_ratio"))
      return out + fmt::format("its GPU work takes {:.1f} × as long", value("busy_ratio"));
    out += "warm-up";
    if (value("loading") >= 1)
      out += fmt::format(", {} loading or compiling modules", percent("loading"));
    return out;
  }

  std::string idle_in_phase() const {
    std::string out = fmt::format("GPU idle {} ({}{}): {}", percent("share"), time("time"),
                                  has("run") ? fmt::format(" of a run of {}", time("run")) : "",
                                  cause_words(l_.topic));
    if (l_.topic != Topic::kUnknownCause && value("cause_share") < 95)
      out += fmt::format(" in {} of it", percent("cause_share"));
    if (!l_.name(0).empty()) {
      out += fmt::format(" ({})", named(0));
    } else if (!l_.name(1).empty()) {
      out += fmt::format(", most before {}", fitted(1, 40));
    } else if (!l_.name(2).empty()) {
      out += fmt::format(", most before {}", kernel(2));
    }
    return out;
  }

  std::string deviation_cause() const {
    return l_.topic == Topic::kUnknownCause || l_.topic == Topic::kNone
               ? std::string()
               : fmt::format(": {}", cause_words(l_.topic));
  }

  // "Block × 8: Attention (848 µs, 35 % of busy): mm → mul" or "gemm × 8 (1.02 ms, …): mm"
  std::string block() const {
    constexpr size_t kLabel = 56, kOp = 30;
    const bool is_mixed = l_.topic == Topic::kOps, repeats = value("repeats") > 1;
    const std::string label = fitted(0, kLabel);
    std::string out = label;
    if (!l_.name(1).empty()) {
      out = repeats ? fmt::format("{} × {}: {}", fitted(1, kOp), count("repeats"), label)
                    : fmt::format("{}: {}", fitted(1, kOp), label);
    } else if (repeats) {
      out = fmt::format("{} × {}", label, count("repeats"));
    }
    if (value("time") > 0) out += fmt::format(" ({}, {} of busy)", time("time"), percent("share"));
    const bool is_same = l_.names.size() == 3 && l_.name(0).starts_with(l_.name(2));
    if (l_.names.size() < 3 || is_same) return out;
    out += is_mixed ? ": mostly " : ": ";
    std::vector<std::string> shown;  // long names may be equal as far as they are shown
    for (size_t i = 2; i < l_.names.size(); ++i) {
      std::string op = fitted(i, kOp);
      if (is_mixed && std::ranges::find(shown, op) != shown.end()) continue;
      out += fmt::format("{}{}", shown.empty() ? "" : is_mixed ? ", " : " → ", op);
      shown.push_back(std::move(op));
    }
    return out;
  }

  std::string hardware() const {
    switch (l_.kind) {
      case Kind::kKernel: {
        if (value("mean") <= 0)
          return fmt::format("{}, {}", kernel(0),
                             counted(static_cast<uint64_t>(value("count")), "launch", "launches"));
        return fmt::format("{} {}: {} × {}{}", kernel(0), percent("share"),
                           count(has("timed") ? "timed" : "count"), time("mean"),
                           has("timed") ? fmt::format(", {} more without a duration",
                                                      story_count(value("count") - value("timed")))
                                        : "");
      }
      case Kind::kSource:
        return l_.name(1).empty() ? fmt::format("defined at {}", named(0))
                                  : fmt::format("{} at {}", named(1), named(0));
      case Kind::kHardware:
        return utilisation();
      case Kind::kUntrusted:
        return fmt::format(
            "Counters of {} are not used: the counted run took over twice as long as in the trace",
            named(0));
      case Kind::kRates:
        return rates();
      case Kind::kFromCache:
        return fmt::format("operands move at {}, {:.1f} × the DRAM peak: most come from L2",
                           story_rate(value("byte_rate"), "B/s"), value("ratio"));
      case Kind::kObserved:
        return observed();
      case Kind::kSmallGrid:
        return fmt::format("{} for {} {}s: at most {} of them have work",
                           counted(static_cast<uint64_t>(value("blocks")), "block"), count("units"),
                           l_.name(1).empty() ? "SM" : named(1), percent("share"));
      case Kind::kExplained:
        return fmt::format("{} ({})", l_.name(1), l_.name(2));
      case Kind::kAdvice:
        return has("most") ? fmt::format("{} Expect {}.", l_.name(1), gain())
                           : std::string(l_.name(1));
      case Kind::kHotLine:
        return fmt::format("{} of the samples stall at {}: {}", percent("share"), named(0),
                           l_.name(1));
      case Kind::kExposed:
        return fmt::format("exposed: {} of this time does not overlap with computation",
                           percent("share"));
      default:
        return one_kernel();
    }
  }

  std::string rates() const {
    if (l_.topic == Topic::kCopies) {
      const std::string rate = story_rate(value("byte_rate"), "B/s");
      // The fixed cost of a copy is that of some ten kilobytes.
      constexpr double kSmall = 65536;
      return value("mean_bytes") >= kSmall
                 ? fmt::format("copies at {}", rate)
                 : fmt::format("{} of {} B on average: their number sets the time, not bandwidth",
                               counted(static_cast<uint64_t>(value("copies")), "copy", "copies"),
                               count("mean_bytes"));
    }
    std::string flop, bytes;
    if (value("flop_rate") > 0) {
      flop = story_rate(value("flop_rate"), "FLOP/s");
      if (has("of_peak_flop")) flop += fmt::format(" ({} of peak)", percent("of_peak_flop"));
    }
    if (value("byte_rate") > 0) {
      bytes = story_rate(value("byte_rate"), "B/s");
      if (has("of_peak_bytes"))
        bytes += fmt::format(" ({} of DRAM peak)", percent("of_peak_bytes"));
    }
    std::string out;
    switch (l_.topic) {
      case Topic::kMemory:
        out = "memory bound: " + bytes;
        if (value("of_peak_flop") >= 1) out += ", " + flop;
        break;
      case Topic::kCompute:
        out = fmt::format("compute bound: {}, {}", flop, bytes);
        break;
      case Topic::kLatency:
        out =
            fmt::format("{} both limits: {}", value("of_limit") < 25 ? "far from" : "below", bytes);
        if (!flop.empty()) out += ", " + flop;
        out += " (model)";
        break;
      default:
        out = flop + (flop.empty() || bytes.empty() ? "" : ", ") + bytes;
    }
    if (has("coverage") && value("coverage") < 95)
      out += fmt::format("; models cover {}", percent("coverage"));
    return out;
  }

  std::string observed() const {
    std::string_view what;
    switch (l_.topic) {
      case Topic::kMemory:
        what = value("dram") >= 60 ? "close to the DRAM limit" : "DRAM is the most used unit";
        break;
      case Topic::kCompute:
        what = std::max(value("tensor"), value("sm")) >= 60
                   ? "close to the limit of the arithmetic units"
                   : "the arithmetic units are used most";
        break;
      case Topic::kLatency:
        what = "far from the DRAM and arithmetic peaks: latency or too little work";
        break;
      default:
        break;
    }
    const std::string_view stall = stall_words(l_.name(0));
    if (what.empty()) return std::string(stall);
    return stall.empty() ? std::string(what) : fmt::format("{}; {}", what, stall);
  }

  std::string one_kernel() const {
    switch (l_.kind) {
      case Kind::kLaunch: {
        std::string out = fmt::format(
            "{}, {}; {}", counted(static_cast<uint64_t>(value("count")), "run"),
            has("median") ? "median " + time("median") : "duration unknown", l_.name(0));
        if (has("registers")) out += fmt::format(", {} registers per thread", count("registers"));
        if (has("shared")) out += fmt::format(", {} B of shared memory", count("shared"));
        return out;
      }
      case Kind::kOccupancy: {
        std::string out = "occupancy";
        if (has("theoretical")) {
          out += fmt::format(" {} theoretical", percent("theoretical"));
          if (value("theoretical") < 99.5) out += fmt::format(" (limited by {})", l_.name(0));
        }
        if (has("achieved"))
          out += fmt::format("{} {} achieved", has("theoretical") ? "," : "", percent("achieved"));
        if (has("waves")) out += fmt::format("; {:.2f} waves", value("waves"));
        return out;
      }
      case Kind::kRoofline:
        return fmt::format("roofline: {} FLOP/B (ridge {}), {}: {} side, {} of the roof",
                           story_number(value("intensity")), story_number(value("ridge")),
                           story_rate(value("flop_rate"), "FLOP/s"),
                           l_.topic == Topic::kMemory ? "memory" : "compute", percent("of_roof"));
      case Kind::kCacheRates: {
        std::string out = "cache hit rates:";
        if (has("l1")) out += fmt::format(" L1 {:.0f} %", value("l1"));
        if (has("l2")) out += fmt::format("{} L2 {:.0f} %", has("l1") ? "," : "", value("l2"));
        return out;
      }
      case Kind::kRejected:
        return fmt::format("rejected: {} ({})", l_.name(1), l_.name(2));
      case Kind::kUntested:
        return fmt::format("untested: {}{}", l_.name(0),
                           l_.name(1).empty() ? "" : fmt::format(". Count with: {}", l_.name(1)));
      case Kind::kCodeStep:
        return fmt::format("{}{}", named(0),
                           l_.name(1).empty() ? "" : fmt::format(" ({})", named(1)));
      default:
        return summary_sentence(l_, name_);
    }
  }
};

// A finding's title is no kernel, though it may have parentheses.
std::string row_text(const StoryEvidence& evidence) {
  if (evidence.sheet.ends_with(".md")) return cut_to_bytes(evidence.row, 50);
  return short_kernel(evidence.row);
}

}  // namespace

std::string story_sentence(const StoryLine& line, const NameStyle& name) {
  return Sentence(line, name).make();
}

std::string evidence_sentence(const StoryEvidence& evidence, const NameStyle& name) {
  std::string out;
  const auto add = [&out](const std::string& text) {
    if (!text.empty()) out += (out.empty() ? "" : "; ") + text;
  };
  if (!evidence.file.empty()) {
    std::string metrics;
    for (const std::string& metric : evidence.metrics)
      metrics += fmt::format("{}{}", metrics.empty() ? ": " : ", ", metric);
    add(fmt::format("counters of {}{}", name(evidence.file), metrics));
  } else if (!evidence.metrics.empty()) {
    std::string metrics;
    for (const std::string& metric : evidence.metrics)
      metrics += (metrics.empty() ? "" : ", ") + metric;
    add("values: " + metrics);
  }
  if (!evidence.sheet.empty())
    add(fmt::format("sheet {}{}", evidence.sheet,
                    evidence.row.empty() ? "" : ", row " + name(row_text(evidence))));
  if (!evidence.events.empty()) {
    std::string uids;
    for (const int64_t uid : evidence.events)
      uids += fmt::format("{}{}", uids.empty() ? "" : ", ", uid);
    add(fmt::format("{} {}", noun(evidence.events.size(), "event"), uids));
  }
  if (!evidence.source.empty()) add("source " + name(evidence.source));
  if (!evidence.formula.empty()) add("formula: " + evidence.formula);
  return out;
}

}  // namespace fathom
