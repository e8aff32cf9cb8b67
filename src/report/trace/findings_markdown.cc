#include "report/trace/findings_markdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analyze/finding_parts.h"
#include "base/utf8.h"
#include "report/markdown.h"
#include "report/trace/places.h"

namespace fathom {
namespace {

// One md_row; cells are markdown already.
std::string header(const std::vector<std::string>& names, std::string_view alignment) {
  std::vector<std::string> rules;
  for (char side : alignment) rules.emplace_back(side == 'r' ? "--:" : ":--");
  return md_row(names) + md_row(rules);
}

// Said once, below the first table.
std::string over_limit_note(std::span<const TopOp> shown) {
  const bool any = std::ranges::any_of(
      shown, [](const TopOp& op) { return op.efficiency && *op.efficiency > 1.0005; });
  if (!any) return {};
  return "\nAn op over 100 % ran faster than the rate listed as achievable, or read its data from "
         "a cache. Treat it as being at the limit.\n";
}

// A few shapes of many: what they are of the whole.
std::string rest_of_evidence(const Finding& f) {
  constexpr double kNearlyAll = 0.9;
  Nanos shown;
  for (const EvidenceOp& e : f.evidence) shown += e.time;
  if (static_cast<double>(shown.count) >= kNearlyAll * static_cast<double>(f.time.count)) return {};
  return fmt::format("\nThese are {} of {}; the rest has other shapes or is around them.\n",
                     micros_text(shown), micros_text(f.time));
}

}  // namespace

std::string efficiency_text(const std::optional<double>& efficiency) {
  return efficiency ? percent_text(*efficiency) : "–";
}

std::string saving_text(const Finding& f, const Assessment& a) {
  const double least = ratio(f.saving_at_least, a.length()),
               most = ratio(f.saving_at_most, a.length());
  if (most < 0.0005) return "under 0.1 % of the wall time";
  const std::string text = percent_range_text(least, most) + " of the wall time, ";
  const std::string from = micros_text(f.saving_at_least), to = micros_text(f.saving_at_most);
  if (from == to) return text + to;
  return text + (f.saving_at_least.count > 0 ? fmt::format("{}–{}", from, to) : "up to " + to);
}

std::string goes_with_text(const Finding& f) {
  constexpr Nanos kWorthAWord{1'000};
  if (f.with_it < kWorthAWord) return {};
  std::vector<std::string_view> parts;
  const GoesWith& with = f.goes_with;
  if (with.gradients) parts.emplace_back("the gradients of these ops");
  if (with.beside) parts.emplace_back("memory-bound ops beside them");
  if (with.between) parts.emplace_back("the rest of the loop");
  if (with.functions) parts.emplace_back("the rest of the function");
  if (with.code_before) parts.emplace_back("the host's code for the wait");
  if (with.short_kernels) parts.emplace_back("short kernels that fewer launches merge");
  if (with.launches) parts.emplace_back("launches");
  parts.emplace_back("the model's error");
  return fmt::format("The upper end is above the finding's own {} because it includes: {}.",
                     micros_text(f.time), fmt::join(parts, ", "));
}

std::string md_title(const Finding& f) {
  // The subject is a name out of the trace, wherever in the title it stands; the rest are our
  // words.
  const size_t at = f.subject.empty() ? std::string::npos : f.title.find(f.subject);
  if (at == std::string::npos) return md_words(f.title);
  const std::string before = f.title.substr(0, at), after = f.title.substr(at + f.subject.size());
  return md_words(before) + (before.ends_with(' ') ? " " : "") +
         md_code(cut_to_bytes(f.subject, 80)) + (after.starts_with(' ') ? " " : "") +
         md_words(after);
}

std::string md_evidence(const Finding& f) {
  if (f.evidence.empty()) return {};
  std::string text =
      header({"op", "shapes", "calls", "time", "% of achievable", "% of peak", "bound", "kernels"},
             "llrrrrll");
  for (const EvidenceOp& e : f.evidence) {
    std::vector<std::string> kernels;
    for (size_t i = 0; i < e.kernels.size(); ++i) {
      kernels.push_back(md_code_cell(cut_to_bytes(e.kernels[i], 60)));
      const bool known = i < e.sources.size() && !e.sources[i].empty();
      if (known) kernels.back() += " at " + md_code_cell(e.sources[i]);
    }
    text += md_row({md_code_cell(cut_to_bytes(e.op, 400)), md_cell(e.shapes),
                    with_thousands(static_cast<int64_t>(e.calls)), micros_text(e.time),
                    efficiency_text(e.efficiency), efficiency_text(e.of_peak), e.bound,
                    fmt::format("{}", fmt::join(kernels, "<br>"))});
  }
  return text + rest_of_evidence(f);
}

std::string md_projections(const Finding& f) {
  if (f.projections.empty()) return {};
  std::string text = header({"target", "time", "end-to-end gain"}, "lrr");
  for (const Projection& p : f.projections) {
    text += md_row({p.target, micros_text(p.time), percent_text(p.gain)});
  }
  return text;
}

std::string md_details(const Finding& f) {
  std::string text = md_evidence(f);
  if (!text.empty()) text += "\n";
  if (!f.projections.empty()) {
    text += fmt::format("Projected gain (now {}):\n\n{}\n", micros_text(f.time), md_projections(f));
  }
  for (const Note& note : f.notes) {
    text +=
        fmt::format("- {}{}{}\n", note.before, md_code(cut_to_bytes(note.name, 80)), note.after);
  }
  if (const std::string with = goes_with_text(f); !with.empty())
    text += fmt::format("- Saving: {}\n", with);
  if (!f.counters.empty()) {
    text += fmt::format("- Counters to measure, as a trace cannot show why: {}.\n", f.counters);
  }
  if (const std::string places = md_places(f); !places.empty()) {
    text += fmt::format("- Place: {}.\n", places);
  }
  if (!f.call_stack.empty()) {
    std::vector<std::string> frames;
    for (const std::string& frame : f.call_stack)
      frames.push_back(md_code(cut_to_bytes(frame, 80)));
    text += fmt::format("- Called from {}.\n", fmt::join(frames, " ← "));
  }
  text += fmt::format("- Priority: {}. Confidence: {}.\n", f.priority_reason,
                      confidence_name(f.confidence));
  return text;
}

std::string md_top_ops(const Assessment& a, size_t most) {
  std::string text = header(
      {"operation", "category", "calls", "time", "% of GPU time", "% of achievable", "% of peak"},
      "llrrrrr");
  size_t rank = 0;
  for (const TopOp& op : a.top_ops()) {
    if (rank == most) break;
    ++rank;
    text += md_row({md_code_cell(cut_to_bytes(op.name, 80)), std::string(op.category),
                    with_thousands(static_cast<int64_t>(op.calls)), micros_text(op.time),
                    percent_text(op.share), efficiency_text(op.efficiency),
                    efficiency_text(op.of_peak)});
  }
  return text + over_limit_note(a.top_ops().first(rank));
}

std::string md_cpu_ops(const Summary::Cpu& cpu, size_t most) {
  std::string text =
      header({"rank", "operation", "shapes", "calls", "self time", "of all ops"}, "rllrrr");
  const size_t shown = std::min(most, cpu.ops.size());
  for (size_t i = 0; i < shown; ++i) {
    const Summary::CpuOp& op = cpu.ops[i];
    text +=
        md_row({std::to_string(i + 1), md_code_cell(cut_to_bytes(op.name, 80)), md_cell(op.shapes),
                with_thousands(op.calls), fmt::format("{:.3f} ms", op.self_millis),
                percent_text(op.share_percent / 100)});
  }
  if (cpu.ops.size() > shown) {
    text += fmt::format("\n{} more ops: see perf_report_csvs/cpu_ops_summary.csv.\n",
                        with_thousands(static_cast<int64_t>(cpu.ops.size() - shown)));
  }
  return text + "\nSelf time excludes the ops that an op calls.\n";
}

std::string md_categories(const Assessment& a) {
  std::string text = header({"category", "time", "% of GPU time", "% of achievable", "band",
                             "time covered by a cost model"},
                            "lrrrlr");
  for (const AssessedCategory& c : a.categories()) {
    text += md_row({std::string(c.name), micros_text(c.time), percent_text(c.share),
                    efficiency_text(c.efficiency),
                    c.efficiency ? std::string(efficiency_band(*c.efficiency)) : "–",
                    percent_text(c.known_time)});
  }
  return text;
}

std::string md_category_ops(const AssessedCategory& category, const Assessment& a, size_t most) {
  std::string text = header({"op", "shapes", "calls", "time", "of the category", "bound",
                             "% of achievable", "% of peak", "counted"},
                            "llrrrlrrr");
  for (size_t i = 0; i < std::min(most, category.ops.size()); ++i) {
    const AssessedOp& op = *category.ops[i];
    text += md_row({md_code_cell(cut_to_bytes(op.group->key.name, 80)),
                    md_cell(shapes_text(a.input(), op.group->first().event)),
                    with_thousands(static_cast<int64_t>(op.group->gpu.count)),
                    micros_text(op.group->gpu.sum), percent_text(op.category_share),
                    op.bound ? (op.bound->is_compute() ? "compute" : "memory") : "–",
                    efficiency_text(op.efficiency), efficiency_text(op.of_peak),
                    percent_text(op.counted)});
  }
  return text;
}

}  // namespace fathom
