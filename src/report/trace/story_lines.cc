#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/count_text.h"
#include "base/kernel_name.h"
#include "report/trace/run_story.h"

namespace fathom {

std::string story_time(double micros) {
  const double size = std::fabs(micros);
  if (size >= 1e6) return fmt::format("{:.2f} s", micros / 1e6);
  if (size >= 1e3) return fmt::format("{:.2f} ms", micros / 1e3);
  return fmt::format("{:.{}f} µs", micros, size >= 100 ? 0 : size >= 10 ? 1 : 2);
}

// 40.3 % in a sentence about large parts needs no tenth; 0.4 % does.
std::string story_percent(double value) {
  if (value > 0 && value < 0.05) return "under 0.1 %";
  return fmt::format("{:.{}f} %", value, value < 9.95 ? 1 : 0);
}

namespace {

using Kind = StoryLineKind;
using Topic = StoryTopic;

std::string rate_of(double per_second, std::string_view unit) {
  constexpr std::pair<double, std::string_view> kPrefixes[] = {
      {1e15, "P"}, {1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}};
  for (const auto& [factor, prefix] : kPrefixes)
    if (per_second >= factor) {
      const double value = per_second / factor;
      return fmt::format("{:.{}f} {}{}", value,
                         value >= 100  ? 0
                         : value >= 10 ? 1
                                       : 2,
                         prefix, unit);
    }
  return fmt::format("{:.3g} {}", per_second, unit);
}

std::string count_of(double value) { return with_thousands(std::llround(value)); }

std::string plain_number(double value) {
  return value >= 1000 ? count_of(value) : fmt::format("{:.3g}", value);
}

// Without scopes, parameters and what is beyond a line.
std::string short_kernel(std::string_view name) {
  constexpr size_t kCharacters = 46;
  std::string text = normal_kernel_name(name).text;
  if (text.empty()) text = name.empty() ? "(no name)" : std::string(name);
  if (screen_width(text) <= kCharacters) return text;
  std::string cut = fit_left(text, kCharacters);
  while (cut.ends_with(' ')) cut.pop_back();
  return cut;
}

std::string_view cause_words(Topic topic) {
  switch (topic) {
    case Topic::kHost:
      return "the CPU launches too slowly";
    case Topic::kSynchronization:
      return "the CPU waits for the GPU";
    case Topic::kDataLoading:
      return "the data loader is too slow";
    case Topic::kFirstUse:
      return "modules are loaded or compiled on first use";
    case Topic::kHostWork:
      return "the program is busy elsewhere, nothing recorded";
    case Topic::kHostCommunication:
      return "a collective runs on the host";
    default:
      return "cause unknown";
  }
}

// What warps wait for (Nsight Compute's documentation of its stall reasons); empty: not listed.
std::string_view stall_words(std::string_view reason) {
  constexpr std::pair<std::string_view, std::string_view> kWords[] = {
      {"long_scoreboard", "warps wait for global or local memory"},
      {"short_scoreboard", "warps wait for shared memory or special functions"},
      {"mio_throttle", "warps wait for the shared-memory queue"},
      {"lg_throttle", "warps wait for the queue of memory instructions"},
      {"tex_throttle", "warps wait for the texture queue"},
      {"math_pipe_throttle", "warps wait for an arithmetic pipe"},
      {"barrier", "warps wait at barriers"},
      {"membar", "warps wait at memory barriers"},
      {"wait", "warps wait for fixed instruction latencies"},
      {"no_instruction", "warps wait for instructions (cache misses, short code)"},
      {"branch_resolve", "warps wait for branches"},
      {"drain", "warps wait for stores at their end"},
      {"imc_miss", "warps wait for constants"},
      {"dispatch_stall", "warps wait for the dispatcher"},
      {"gmma", "warps wait for tensor-core instructions"},
      {"sleeping", "warps sleep"},
  };
  for (const auto& [name, words] : kWords)
    if (name == reason) return words;
  return {};
}

class Sentence {
 public:
  Sentence(const StoryLine& line, const NameStyle& name) : l_(line), name_(name) {}

  std::string make() const {
    switch (l_.kind) {
      case Kind::kRecording:
        return recording();
      case Kind::kModel:
        return fmt::format("Model {}", named(0));
      case Kind::kCounterFile:
        return fmt::format("Counters of {}: {} of {} launches joined with kernels of the trace",
                           named(0), count("joined"), count("launches"));
      case Kind::kDoubtfulFile:
        return fmt::format("Counters of {}: {} of {} launches joined: {}", named(0),
                           count("joined"), count("launches"), named(1));
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
        return fmt::format(
            "First run {:.1f} × the median ({}): warm-up{}", value("ratio"), time("time"),
            value("loading") >= 1
                ? fmt::format(", {} loading or compiling modules", percent("loading"))
                : "");
      case Kind::kSlowestRun:
        return fmt::format("Slowest run is number {}: {:.1f} × the median ({}){}", count("number"),
                           value("ratio"), time("time"), deviation_cause());
      case Kind::kOverlapped:
        return fmt::format("{} of its work ({}) runs behind work that counts for another event",
                           percent("share"), time("time"));
      case Kind::kMoreBlocks:
        return fmt::format("{} more GPU {}: {} of busy", count("count"),
                           noun(static_cast<uint64_t>(value("count")), "event"), percent("share"));
      case Kind::kBlock:
        return block();
      default:
        return hardware();
    }
  }

 private:
  double value(std::string_view name) const { return l_.number(name).value_or(0); }
  bool has(std::string_view name) const { return l_.number(name).has_value(); }
  std::string percent(std::string_view name) const { return story_percent(value(name)); }
  std::string time(std::string_view name) const { return story_time(value(name)); }
  std::string count(std::string_view name) const { return count_of(value(name)); }
  std::string named(size_t place) const { return name_(l_.name(place)); }
  std::string fitted(size_t place, size_t characters) const {
    const std::string_view text = l_.name(place).empty() ? "(no name)" : l_.name(place);
    return screen_width(text) <= characters ? name_(text) : name_(fit_left(text, characters));
  }
  std::string kernel(size_t place) const { return name_(short_kernel(l_.name(place))); }

  std::string recording() const {
    std::string out;
    for (const size_t place : {0, 1})
      if (!l_.name(place).empty())
        out += fmt::format("{}{}", out.empty() ? "" : " · ", named(place));
    if (!out.empty()) out += "; ";
    out += counted(static_cast<uint64_t>(value("kernels")), "kernel");
    if (has("length")) out += " in " + time("length");
    if (has("busy")) out += fmt::format(", GPU busy {}", percent("busy"));
    return out;
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
    std::string out = runs == 1 ? fmt::format("1 run of {}", time("median"))
                                : fmt::format("{} runs, median {}", count("runs"), time("median"));
    if (has("p95")) out += fmt::format(", p95 {}", time("p95"));
    out += fmt::format("; {}{}", counted(static_cast<uint64_t>(value("kernels")), "GPU event"),
                       runs == 1 ? "" : " each");
    if (has("busy")) out += fmt::format(", GPU busy {}", percent("busy"));
    return out;
  }

  std::string idle_in_phase() const {
    std::string out =
        fmt::format("GPU idle {} ({}): {}", percent("share"), time("time"), cause_words(l_.topic));
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
        if (value("mean") <= 0) return fmt::format("{}, {} launches", kernel(0), count("count"));
        return fmt::format("{} {}: {} × {}", kernel(0), percent("share"), count("count"),
                           time("mean"));
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
        return fmt::format("operands move at {}, {:.1f} × the HBM peak: most come from L2",
                           rate_of(value("byte_rate"), "B/s"), value("ratio"));
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

  std::string gain() const {
    return fmt::format("{:.2f}–{:.{}f} × for this kernel", value("least"), value("most"),
                       value("most") < 10 ? 2 : 0);
  }

  std::string utilisation() const {
    std::string out;
    const auto add = [&](std::string_view title, std::string_view which) {
      if (has(which))
        out += fmt::format("{}{} {:.0f} %", out.empty() ? "" : "   ", title, value(which));
    };
    add("SM", "sm");
    add("tensor", "tensor");
    add("HBM", "dram");
    add("occupancy", "occupancy");
    std::string stalls;
    constexpr std::string_view kStalls[] = {"stall_1", "stall_2", "stall_3"};
    for (size_t i = 0; i < l_.names.size() && i < 3; ++i)
      stalls += fmt::format("{}{} {:.0f} %", i > 0 ? ", " : "", l_.names[i], value(kStalls[i]));
    std::ranges::replace(stalls, '_', ' ');
    if (!stalls.empty()) out += fmt::format("{}stalls: {}", out.empty() ? "" : "   ", stalls);
    if (has("coverage") && value("coverage") < 99.5)
      out += fmt::format("   (counters: {})", percent("coverage"));
    return out;
  }

  std::string rates() const {
    if (l_.topic == Topic::kCopies)
      return fmt::format("copies at {}", rate_of(value("byte_rate"), "B/s"));
    std::string flop, bytes;
    if (value("flop_rate") > 0) {
      flop = rate_of(value("flop_rate"), "FLOP/s");
      if (has("of_peak_flop")) flop += fmt::format(" ({} of peak)", percent("of_peak_flop"));
    }
    if (value("byte_rate") > 0) {
      bytes = rate_of(value("byte_rate"), "B/s");
      if (has("of_peak_bytes")) bytes += fmt::format(" ({} of HBM peak)", percent("of_peak_bytes"));
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
        out = fmt::format("too little work for the GPU: {}", bytes);
        if (value("of_peak_flop") >= 1) out += ", " + flop;
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
        what = value("dram") >= 60 ? "close to the HBM limit" : "HBM is the most used unit";
        break;
      case Topic::kCompute:
        what = std::max(value("tensor"), value("sm")) >= 60
                   ? "close to the limit of the arithmetic units"
                   : "the arithmetic units are used most";
        break;
      case Topic::kLatency:
        what = "far from the HBM and arithmetic peaks: latency or too little work";
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
        std::string out =
            fmt::format("{}, median {}; {}", counted(static_cast<uint64_t>(value("count")), "run"),
                        time("median"), l_.name(0));
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
                           plain_number(value("intensity")), plain_number(value("ridge")),
                           rate_of(value("flop_rate"), "FLOP/s"),
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
        return transition();
    }
  }

  std::string arrow(std::string_view before, std::string_view after, bool is_percent) const {
    return is_percent
               ? fmt::format("{:.0f} → {:.0f} %", value(before), value(after))
               : fmt::format("{} → {}", plain_number(value(before)), plain_number(value(after)));
  }

  std::string transition() const {
    switch (l_.kind) {
      case Kind::kGapBetween:
        return fmt::format("GPU idle between them: {} in all, {}", time("time"),
                           cause_words(l_.topic));
      case Kind::kShiftTokens:
        return fmt::format("GEMM rows (M) {} → {}", count("before"), count("after"));
      case Kind::kShiftFamilies:
        return l_.name(0) == l_.name(1)
                   ? fmt::format("{} stays the largest part: {} of GPU time", named(0),
                                 arrow("before", "after", true))
                   : fmt::format("largest part of GPU time: {} ({}) → {} ({})", named(0),
                                 percent("before"), named(1), percent("after"));
      case Kind::kShiftKernels:
        return fmt::format("median kernel {} → {}; GPU events of a run {} → {}", time("before"),
                           time("after"), count("kernels_before"), count("kernels_after"));
      case Kind::kShiftBusy:
        return fmt::format("GPU busy {}", arrow("before", "after", true));
      case Kind::kShiftHardware: {
        std::string out;
        const auto add = [&](std::string_view title, std::string_view a, std::string_view b) {
          if (has(a))
            out += fmt::format("{}{} {}", out.empty() ? "" : "   ", title, arrow(a, b, true));
        };
        add("SM", "sm_before", "sm_after");
        add("tensor", "tensor_before", "tensor_after");
        add("HBM", "dram_before", "dram_after");
        return out + fmt::format("   (counters cover {})",
                                 arrow("coverage_before", "coverage_after", true));
      }
      case Kind::kShiftRates:
        return fmt::format("achieved {} → {}, {} → {}", rate_of(value("flop_before"), "FLOP/s"),
                           rate_of(value("flop_after"), "FLOP/s"),
                           rate_of(value("byte_before"), "B/s"),
                           rate_of(value("byte_after"), "B/s"));
      case Kind::kWhyIntensity: {
        const bool crosses =
            (value("before") < value("ridge")) != (value("after") < value("ridge"));
        return fmt::format(
            "why: intensity {} FLOP/B {} {}: {} set the time", arrow("before", "after", false),
            crosses ? "crosses the ridge of" : "against a ridge of", plain_number(value("ridge")),
            l_.topic == Topic::kMemory ? "bytes" : "FLOP");
      }
      case Kind::kWhyLaunches:
        return fmt::format("why: kernels take {} (before: {}), the host launches one every {}",
                           time("kernel"), time("kernel_before"), time("interval"));
      default:
        return summary();
    }
  }

  std::string summary() const {
    switch (l_.kind) {
      case Kind::kHotspot:
        return l_.topic == Topic::kCpu ? fmt::format("{}: {} of CPU time ({})", named(0),
                                                     percent("share"), time("time"))
                                       : fmt::format("{}: {} of GPU busy time ({})",
                                                     l_.topic == Topic::kOps ? named(0) : kernel(0),
                                                     percent("share"), time("time"));
      case Kind::kBottleneck:
        return bottleneck();
      case Kind::kInsight:
        return insight();
      case Kind::kAction:
        return action();
      case Kind::kMissing:
        return missing();
      default:
        return std::string(line_kind_name(l_.kind));
    }
  }

  std::string bottleneck() const {
    const std::string part = fmt::format("{} of the time ({})", percent("share"), time("time"));
    switch (l_.topic) {
      case Topic::kMemory:
        return fmt::format("memory bandwidth: memory-bound ops take {}", part);
      case Topic::kCompute:
        return fmt::format("arithmetic: compute-bound ops take {}", part);
      case Topic::kCopies:
        return fmt::format("exposed copies: {}", part);
      case Topic::kCommunication:
        return fmt::format("exposed communication: {}", part);
      case Topic::kKernel:
        return fmt::format("{} in kernels that take {} ({})", l_.name(1), part, l_.name(2));
      case Topic::kStalls: {
        const std::string_view words = stall_words(l_.name(0));
        return fmt::format("{} in kernels that take {}: {} stalls {} of {}",
                           words.empty() ? std::string_view("warps stall") : words, part,
                           l_.name(0), percent("stall"), kernel(1));
      }
      default:
        return fmt::format("GPU idle, {}: {}", cause_words(l_.topic), part);
    }
  }

  std::string insight() const {
    if (l_.topic == Topic::kHost) {
      return fmt::format(
          "GPU busy {}: kernels of zero length would speed the run up {:.2f} ×, no idle time up to "
          "{:.1f} ×",
          percent("busy"), value("kernels_gain"), value("idle_gain"));
    }
    if (l_.topic == Topic::kKernel) {
      std::string out = "Kernels: " + utilisation();
      return out;
    }
    return fmt::format(
        "Ops reach {} of the achievable bandwidth or FLOP/s; {} of their time is memory bound",
        percent("of_limit"), percent("memory_bound"));
  }

  std::string action() const {
    if (l_.topic == Topic::kKernel)
      return fmt::format("{}: {}{}", kernel(0), l_.name(1),
                         has("most") ? fmt::format(" Expect {}.", gain()) : "");
    const std::string saving = value("least") > 0 && value("most") - value("least") >= 0.1
                                   ? fmt::format("{:.1f}–{:.1f} %", value("least"), value("most"))
                                   : fmt::format("up to {}", percent("most"));
    constexpr size_t kTitle = 60;
    std::string title(l_.name(0));
    if (screen_width(title) > kTitle) title = fit_left(title, kTitle);
    return fmt::format("saves {}: {}. {}", saving, name_(title), l_.name(1));
  }

  std::string missing() const {
    const std::string command(l_.name(0));
    switch (l_.topic) {
      case Topic::kCounters:
        return fmt::format("SM, tensor and HBM % are not measured: {}", command);
      case Topic::kMoreCounters:
        if (value("coverage") >= 99.5)
          return fmt::format("Hypotheses that need more metrics: {}", command);
        return command.empty()
                   ? fmt::format("Counters cover {} of kernel time", percent("coverage"))
                   : fmt::format("Counters cover {} of kernel time; more: {}", percent("coverage"),
                                 command);
      case Topic::kStalls:
        return fmt::format("Warp stalls and their lines: {}", command);
      case Topic::kShapes:
        return fmt::format("No shapes of ops: no cost models, no achieved rates. Record with {}",
                           command);
      case Topic::kTimeline:
        return fmt::format(
            "Counters without a trace: order, idle time, phases and ops are unknown. Record with: "
            "{}",
            command);
      case Topic::kOpNames:
        return "No ops were recorded: kernels stand for themselves, without modules and shapes";
      case Topic::kLaunches:
        return fmt::format("{} GPU events without a launch ({}) are left out; {} adds them",
                           count("count"), time("time"), command);
      case Topic::kDevices:
        return fmt::format(
            "Work of {} GPUs is told on one timeline, where one hides the other; {} tells one",
            count("count"), command);
      case Topic::kPlatform:
        return fmt::format("The GPU is not known: no peaks to compare with. Name it with {}",
                           command);
      case Topic::kGpuWork:
        return fmt::format(
            "No GPU work was recorded: no phases, no hardware state. Record it with: {}", command);
      default:
        return command;
    }
  }

  const StoryLine& l_;
  const NameStyle& name_;
};

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
                    evidence.row.empty() ? "" : ", row " + name(short_kernel(evidence.row))));
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
