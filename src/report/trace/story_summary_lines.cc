#include <fmt/format.h>

#include "base/count_text.h"
#include "report/trace/story_words.h"

namespace fathom {
namespace {

class SummarySentence : LineWords {
  using Kind = StoryLineKind;
  using Topic = StoryTopic;

 public:
  SummarySentence(const StoryLine& line, const NameStyle& name) : LineWords(line, name) {}

  std::string make() const { return transition(); }

 private:
  std::string arrow(std::string_view before, std::string_view after, bool is_percent) const {
    return is_percent
               ? fmt::format("{:.0f} → {:.0f} %", value(before), value(after))
               : fmt::format("{} → {}", story_number(value(before)), story_number(value(after)));
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
        add("DRAM", "dram_before", "dram_after");
        return out + fmt::format("   (counters cover {})",
                                 arrow("coverage_before", "coverage_after", true));
      }
      case Kind::kShiftRates:
        return fmt::format("achieved {} → {}, {} → {}", story_rate(value("flop_before"), "FLOP/s"),
                           story_rate(value("flop_after"), "FLOP/s"),
                           story_rate(value("byte_before"), "B/s"),
                           story_rate(value("byte_after"), "B/s"));
      case Kind::kWhyIntensity: {
        const bool crosses =
            (value("before") < value("ridge")) != (value("after") < value("ridge"));
        const std::string why = fmt::format(
            "why: intensity {} FLOP/B {} {}", arrow("before", "after", false),
            crosses ? "crosses the ridge of" : "against a ridge of", story_number(value("ridge")));
        const bool is_memory = l_.topic == Topic::kMemory;
        return has("of_peak")
                   ? fmt::format("{}: the {} side, but at {} of {}", why,
                                 is_memory ? "memory" : "compute", percent("of_peak"),
                                 is_memory ? "DRAM peak" : "peak FLOP/s")
                   : fmt::format("{}: {} set the time", why, is_memory ? "bytes" : "FLOP");
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
      case Kind::kHostRange:
        return fmt::format("{}: {} of the recording ({} in {}, median {})", named(0),
                           percent("share"), time("time"),
                           counted(static_cast<uint64_t>(value("count")), "call"), time("median"));
      case Kind::kHostCounter:
        return fmt::format("{}: {:.4g} → {:.4g} in {}, from {:.4g} to {:.4g}", named(0),
                           value("first"), value("last"),
                           counted(static_cast<uint64_t>(value("count")), "value"), value("least"),
                           value("most"));
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

  // Of counted kernels that no hypothesis explains.
  std::string observed_limit(const std::string& part) const {
    const std::string_view what = l_.topic == Topic::kMemory ? "close to the DRAM limit"
                                  : l_.topic == Topic::kCompute
                                      ? "close to the limit of the arithmetic units"
                                      : "far from all peaks, latency or too little work";
    return fmt::format("{}: kernels that take {}, mostly {}; {}", what, part, kernel(0),
                       utilisation());
  }

  std::string bottleneck() const {
    const std::string part = fmt::format("{} of the time ({})", percent("share"), time("time"));
    if (has("sm") || has("dram") || has("tensor")) return observed_limit(part);
    switch (l_.topic) {
      case Topic::kMemory:
        return fmt::format("memory bandwidth: memory-bound ops take {}", part);
      case Topic::kCompute:
        return fmt::format("arithmetic: compute-bound ops take {}", part);
      case Topic::kLatency:
        return has("of_peak_bytes")
                   ? fmt::format(
                         "neither memory nor arithmetic: ops below 60 % of both limits take {}, at "
                         "{} of DRAM peak and {} of peak FLOP/s (model); counters would show why",
                         part, percent("of_peak_bytes"), percent("of_peak_flop"))
                   : fmt::format("ops below 60 % of both limits take {}; counters would show why",
                                 part);
      case Topic::kUnknownLimit:
        return fmt::format("kernels take {}; counters would show what limits them", part);
      case Topic::kSetup:
        return fmt::format("compilation, autotuning and graph capture, no steady state: {}", part);
      case Topic::kThrottling:
        return fmt::format(
            "{}. Kernels under it take {}; at the full clock compute-bound ones run up to {:.2f} × "
            "as fast",
            throttled(), part, value("most"));
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
    std::string parts;
    for (const auto& [part, words] : {std::pair("near_memory", "near the memory limit"),
                                      {"near_compute", "near the compute limit"},
                                      {"far", "near neither limit"}}) {
      if (value(part) < 0.05) continue;
      parts += fmt::format("{}{} is {}", parts.empty() ? "" : ", ", percent(part), words);
    }
    if (parts.empty()) parts = "none is below what DRAM allows";
    return fmt::format(
        "Ops reach {} of the achievable bandwidth or FLOP/s (model); of their time {}",
        percent("of_limit"), parts);
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
    std::string command(l_.name(0));
    switch (l_.topic) {
      case Topic::kCounters:
        return fmt::format("SM, tensor and DRAM % are not measured: {}", command);
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
        return "No ops were recorded: rows are kernels, without modules and shapes";
      case Topic::kLaunches:
        return fmt::format("{} without a launch ({}) left out; {} adds them",
                           counted(static_cast<uint64_t>(value("count")), "GPU event"),
                           time("time"), command);
      case Topic::kPlatform:
        return fmt::format("{}: no peaks to compare with. {} with {}",
                           l_.name(1).empty() ? "The recording does not name its GPU"
                                              : "No rates are known of " + named(1),
                           l_.name(1).empty() ? "Name it" : "Give them", command);
      case Topic::kStacks:
        return fmt::format(
            "Python stacks were recorded ({} frames, {:.0f} for each launch), which slows the "
            "host: "
            "measure idle time again without them ({})",
            count("frames"), value("per_launch"), command);
      case Topic::kGpuWork:
        return fmt::format(
            "No GPU work was recorded: no phases, no hardware state. Record it with: {}", command);
      default:
        return command;
    }
  }
};

}  // namespace

std::string summary_sentence(const StoryLine& line, const NameStyle& name) {
  return SummarySentence(line, name).make();
}

}  // namespace fathom
