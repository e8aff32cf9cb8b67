#include "report/scan/kernel_behaviour.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/markdown.h"
#include "report/scan/access_words.h"
#include "report/scan/expected_measured_text.h"
#include "scan/facts/fact_names.h"

namespace fathom {

std::string estimate_range(const Estimate& estimate) {
  if (estimate.at_least()) return "at least " + amount_text(*estimate.low, estimate.unit);
  if (!estimate.known()) return "unknown";
  if (estimate.quantity == Quantity::kYesOrNo) return *estimate.low != 0 ? "yes" : "no";
  const std::string low = amount_text(*estimate.low, estimate.unit),
                    high = amount_text(*estimate.high, estimate.unit);
  return low == high ? low : low + " – " + high;
}

namespace {

std::string open_end_words(const CodeFacts& facts, const OpenEnd& end) {
  const std::string place = end.at.line == 0 ? "" : " (" + md_code(place_text(facts, end.at)) + ")";
  switch (end.kind) {
    case OpenEnd::Kind::kUnresolvedAccess:
      return fmt::format("{}{} is unresolved", md_code(end.what), place);
    case OpenEnd::Kind::kUnresolvedExtent:
      return fmt::format("the extent of {}{} is unresolved", md_code(end.what), place);
    case OpenEnd::Kind::kTileLoads:
      return fmt::format("bulk copies{} are not counted", place);
    case OpenEnd::Kind::kByKind:
      return "the numbers are those of kernels of this kind";
    case OpenEnd::Kind::kAtomics:
      return fmt::format("contention of the atomics on {}{} is unknown", md_code(end.what), place);
    case OpenEnd::Kind::kUnknownRounds:
      return "the trip count of a loop is unresolved";
    case OpenEnd::Kind::kTooWide:
      return "the upper bound of the time is too far from the lower one";
  }
  return "";
}

// Why totals are lower bounds, and which flags decide them.
std::vector<std::string> open_end_lines(const CodeFacts& facts, const Expectation& expected) {
  constexpr size_t kShown = 4;
  std::vector<std::string> out;
  if (!expected.open_ends.empty()) {
    std::string text = "Lower bounds only: ";
    for (size_t i = 0; i < std::min(kShown, expected.open_ends.size()); ++i)
      text += (i == 0 ? "" : "; ") + open_end_words(facts, expected.open_ends[i]);
    const size_t more = expected.open_ends.size() - std::min(kShown, expected.open_ends.size());
    out.push_back(text + (more > 0 ? fmt::format("; {} more in scan.json.", more) : "."));
  }
  if (!expected.flags.empty()) {
    std::string text = "Conditional accesses widen the range; `--param NAME=0` or `1` decides: ";
    for (size_t i = 0; i < std::min(kShown, expected.flags.size()); ++i)
      text += (i == 0 ? "" : ", ") + md_code(expected.flags[i]);
    out.push_back(text + (expected.flags.size() > kShown ? ", …" : "."));
  }
  return out;
}

class BehaviourWriter {
 public:
  BehaviourWriter(const CodeFacts& facts, const KernelFacts& kernel, const KernelStory& told,
                  const Stories& stories)
      : facts_(facts),
        kernel_(kernel),
        expected_(told.expected),
        notes_(told.notes),
        stories_(stories) {}

  std::string run() {
    memory_traffic();
    hardware();
    notes();
    return std::move(out_);
  }

 private:
  // Every place of the code that touches an array, in the order of the code.
  void memory_traffic() {
    constexpr size_t kShown = 24;
    if (kernel_.accesses.empty()) return;
    out_ +=
        "\n**Memory traffic** (code facts; element counts are derived for the whole launch where "
        "loop bounds are resolved)\n\n| array | type | access | index | class | "
        "elements | line |\n"
        "|---|---|---|---|---|---|---|\n";
    std::set<std::string> seen;
    size_t left_out = 0;
    for (const ArrayAccess& access : kernel_.accesses) {
      std::string row = fmt::format(
          "| {} | {} | {}{}{} | {} | {}{} | {} | {} |\n", md_code_cell(access.array),
          access.type.empty() ? "unknown" : md_code_cell(access.type),
          access_kind_name(access.kind), access.shared ? ", shared memory" : "",
          access.conditional ? ", conditional" : "", md_code_cell(access.index),
          md_text(access_words(access)), access.certainty == Certainty::kUnsure ? " (unsure)" : "",
          access.elements.empty() || access.certainty == Certainty::kUnsure
              ? "unresolved"
              : md_code_cell(access.elements),
          md_code_cell(place_text(facts_, access.at)));
      if (!seen.insert(row).second) continue;
      if (seen.size() > kShown) {
        ++left_out;
      } else {
        out_ += row;
      }
    }
    // Totals are left out where the walk ended before the code did.
    const bool cut = kernel_.traffic.empty() &&
                     std::any_of(kernel_.accesses.begin(), kernel_.accesses.end(),
                                 [](const ArrayAccess& access) { return !access.shared; });
    if (cut) out_ += "\nThe list is incomplete: the kernel exceeds the analysis limit.\n";
    if (left_out > 0) out_ += fmt::format("\n{} more in scan.json.\n", left_out);
  }

  void hardware() {
    out_ += "\n**Hardware behaviour** (estimated from source, not measured";
    if (!stories_.platform.empty()) out_ += ", on " + md_text(stories_.platform);
    for (const auto& [name, value] : stories_.parameters.given())
      out_ += fmt::format(", {}={}", md_text(name), md_text(value));
    out_ += ")\n\n";
    if (!expected_.model) {
      out_ += fmt::format("No cost model applies: {}.\n",
                          md_text(expected_.no_model.empty()
                                      ? "its memory traffic could not be derived from the code"
                                      : expected_.no_model));
      return;
    }
    out_ +=
        fmt::format("Model: {} ({}, from {}).\n", md_text(expected_.model->title),
                    certainty_name(expected_.model->certainty), md_text(expected_.model->because));
    for (const std::string& remark : expected_.remarks) out_ += md_prose(remark) + "\n";
    for (const std::string& line : open_end_lines(facts_, expected_)) out_ += line + "\n";
    if (!expected_.missing.empty()) {
      out_ += fmt::format("Unknown without `--param`: {}.\n",
                          md_code(fmt::format("{}", fmt::join(expected_.missing, ", "))));
    }
    out_ += "\n| quantity | expected | formula |\n|---|---:|---|\n";
    for (const auto* list : {&expected_.traffic, &expected_.counters}) {
      for (const Estimate& e : *list) {
        out_ += fmt::format("| {} | {} | {} |\n", md_code_cell(e.name), estimate_range(e),
                            md_code_cell(e.formula));
      }
    }
    if (expected_.side != Bottleneck::kUnknown) {
      out_ += fmt::format("\nRoofline: {}.\n",
                          expected_.side == Bottleneck::kLatency
                              ? "latency-bound at this size"
                              : std::string(bottleneck_name(expected_.side)) + "-bound");
    }
    if (!expected_.stalls.empty())
      out_ += fmt::format("\nExpected stall reasons, most likely first: {}.\n",
                          fmt::join(expected_.stalls, ", "));
  }

  void notes() {
    if (notes_.empty()) return;
    out_ += "\n**Possible improvements**\n\n";
    for (const KernelNote& note : notes_) {
      out_ += fmt::format("- {} {} ({})\n", md_prose(note.text),
                          md_code(place_text(facts_, note.at)), note.basis);
    }
  }

  const CodeFacts& facts_;
  const KernelFacts& kernel_;
  const Expectation& expected_;
  const std::vector<KernelNote>& notes_;
  const Stories& stories_;
  std::string out_;
};

}  // namespace

std::string kernel_behaviour(const CodeFacts& facts, const KernelFacts& kernel,
                             const KernelStory& told, const Stories& stories) {
  return BehaviourWriter(facts, kernel, told, stories).run();
}

}  // namespace fathom
