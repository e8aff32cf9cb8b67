#include "report/scan/expected_measured_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/count_text.h"
#include "report/compared_line.h"
#include "report/kernel_hardware.h"
#include "report/markdown.h"

namespace fathom {
namespace {

// On a page; the CSV file has all.
constexpr size_t kPageKernels = 200;
constexpr size_t kHotLines = 5;

std::string dims_text(const std::optional<Dim3>& d) {
  if (!d) return "unknown";
  if (d->y == 1 && d->z == 1) return std::to_string(d->x);
  return fmt::format("({}, {}, {})", d->x, d->y, d->z);
}

// For a cell: numbers are our own, texts may hold a counter's name.
std::string range_text(const ComparedQuantity& one) {
  if (!one.expected_text.empty()) return md_prose_cell(one.expected_text);
  if (!one.low || !one.high) return "unknown";
  const std::string low = amount_text(*one.low, one.unit), high = amount_text(*one.high, one.unit);
  return low == high ? low : low + " – " + high;
}

std::string measured_cell(const ComparedQuantity& one) {
  if (!one.measured_text.empty()) return md_prose_cell(one.measured_text);
  return one.measured ? amount_text(*one.measured, one.unit) : "unknown";
}

std::string reason_text(const ComparedQuantity& one) {
  std::string out = md_prose_cell(one.reason);
  if (!one.command.empty()) out += fmt::format("; `{}`", one.command);
  return out;
}

const ComparedQuantity* quantity_of(const ComparedKernel& compared, std::string_view id) {
  const auto found = std::ranges::find(compared.quantities, id, &ComparedQuantity::id);
  return found == compared.quantities.end() ? nullptr : &*found;
}

}  // namespace

std::string amount_text(double value, std::string_view unit) {
  if (unit == "s")
    return value < 1e-3 ? fmt::format("{:.1f} µs", value * 1e6)
                        : fmt::format("{:.2f} ms", value * 1e3);
  if (unit == "%") return fmt::format("{:.0f} %", value);
  if (unit == "FLOP/B") return fmt::format("{:.2g} FLOP/B", value);
  constexpr const char* scales[] = {"", "k", "M", "G", "T"};
  size_t scale = 0;
  while (value >= 1000 && scale + 1 < std::size(scales)) {
    value /= 1000;
    ++scale;
  }
  // Counters may hold any number.
  if (value >= 1e6) return fmt::format("{:.2e} {}{}", value, scales[scale], unit);
  const std::string number =
      scale == 0 ? fmt::format("{:.0f}", value) : fmt::format("{:.2f}", value);
  const std::string suffix = scales[scale] + std::string(unit);
  return suffix.empty() ? number : number + " " + suffix;
}

std::string compared_table(const ComparedKernel& compared) {
  std::string out =
      "| quantity | expected | measured | verdict | likeliest reason, or what is missing |\n"
      "|---|---:|---:|---|---|\n";
  for (const ComparedQuantity& one : compared.quantities) {
    const bool is_surprise = one.comparison == Comparison::kSurprise;
    out += fmt::format(
        "| {} | {} | {} | {} | {} |\n", one.title, range_text(one), measured_cell(one),
        is_surprise ? "**surprise**" : comparison_name(one.comparison), reason_text(one));
  }
  return out;
}

std::string solved_text(const ComparedKernel& compared) {
  std::string out;
  for (const LaunchValues::Solved& one : compared.solved) {
    const auto number = [](double value) {
      return std::fabs(value) < 9e15 ? with_thousands(static_cast<int64_t>(value))
                                     : fmt::format("{:.3g}", value);
    };
    out += fmt::format(
        "{}{} = {} ({})", out.empty() ? "" : ", ", md_code(one.name),
        one.least == one.most ? number(one.least) : number(one.least) + " – " + number(one.most),
        one.from);
  }
  return out;
}

std::string verified_list(const ComparedKernel& compared, const KernelContext& context) {
  std::string out;
  for (const ComparedQuantity& one : compared.quantities) {
    const bool is_compared =
        one.comparison == Comparison::kWithin || one.comparison == Comparison::kSurprise;
    out +=
        fmt::format("- [{}] {}: {}", is_compared ? "x" : " ", one.title,
                    one.comparison == Comparison::kSurprise ? "verified, outside the expected range"
                    : one.comparison == Comparison::kWithin ? "verified, within the expected range"
                                                            : "not verified");
    if (!is_compared) out += ", " + md_prose(one.reason);
    if (!one.command.empty()) out += fmt::format("; `{}`", one.command);
    out += "\n";
  }
  size_t tested = 0;
  std::string command;
  for (const TestedHypothesis& one : context.tested) {
    tested += one.verdict != Verdict::kUntested;
    if (one.verdict == Verdict::kUntested && command.empty()) command = one.command;
  }
  const bool all = tested == context.tested.size();
  out += fmt::format("- [{}] hypotheses: {} of {} tested{}\n", all ? "x" : " ", tested,
                     context.tested.size(),
                     command.empty() ? "" : fmt::format("; `{}` tests more", command));
  const auto local = context.value("local_mb");
  out += local ? fmt::format("- [x] local memory traffic: {:.2f} MB{}\n", *local,
                             *local > 0 ? " (spilled registers or local arrays)" : "")
               : "- [ ] local memory traffic: not counted\n";
  const auto conflicts = context.value("bank_conflicts");
  out += conflicts
             ? fmt::format("- [x] bank conflicts: {:.1f} % of shared wavefronts\n", *conflicts)
             : "- [ ] bank conflicts: not counted\n";
  return out;
}

std::string measured_part(const MeasuredRun& run, const ComparedKernel& compared) {
  const KernelContext& context = run.contexts[compared.context];
  std::string out = fmt::format(
      "\n**Measured** {}: grid {}, block {}, {}, counters from {}, join: {}, trusted: {}",
      md_code(context.name), dims_text(context.launch.grid), dims_text(context.launch.block),
      counted(static_cast<uint64_t>(context.count), "run"), md_code(context.file),
      quality_text(context.quality), context.trust);
  if (!run.gpu.empty()) out += fmt::format(", on {}", md_text(run.gpu));
  out += ".\n";
  if (!run.doubt.empty())
    out += fmt::format("The counters may be of another run: {}.\n", md_prose(run.doubt));
  if (!context.is_trusted) {
    out +=
        "The counted runs took over twice as long as in the trace. Their counters are not "
        "compared, and no hypothesis is tested by them.\n";
  }
  if (!compared.not_comparable.empty()) {
    out += fmt::format("\nNot comparable with the code: {}.\n", md_prose(compared.not_comparable));
  } else {
    const std::string solved = solved_text(compared);
    if (!solved.empty()) out += fmt::format("The launch gives {}.\n", solved);
    for (const std::string& remark : compared.remarks) out += md_prose(remark) + "\n";
    out += "\n" + compared_table(compared);
  }
  const std::string roofline = roofline_text(context), stalls = stalls_line(context, 5);
  if (!roofline.empty())
    out += fmt::format("\nRoofline (counted FLOP and DRAM bytes): {}.\n", roofline);
  if (!stalls.empty()) out += fmt::format("\nStall reasons: {}.\n", md_prose(stalls));
  out += "\nHypotheses:\n\n" + hypothesis_tables(context);
  out += "\nChecklist:\n\n" + verified_list(compared, context);
  return out;
}

std::string hot_lines_text(const MeasuredRun::Sampled& sampled) {
  if (sampled.lines.empty()) return {};
  std::string out =
      "\nLines where its warps wait (PC samples of all its launches):\n\n"
      "| line | stalled samples, of the kernel's | reasons |\n|---|---:|---|\n";
  for (size_t i = 0; i < std::min(sampled.lines.size(), kHotLines); ++i) {
    const HotLine& line = sampled.lines[i];
    out += fmt::format("| {} | {:.1f} % | {} |\n", md_code_cell(line.place), line.percent,
                       md_prose_cell(line.reasons));
  }
  return out;
}

// What the code makes expect of a launch, what was verified, and the lines where it waits.
static std::string compared_part(const MeasuredRun& run, const ComparedKernel& compared) {
  const KernelContext& kernel = run.contexts[compared.context];
  std::string out = "\n## Expected against measured\n\n";
  if (!compared.not_comparable.empty()) {
    out += fmt::format("Not comparable with the code: {}.\n", md_prose(compared.not_comparable));
  } else {
    const std::string solved = solved_text(compared);
    if (!solved.empty()) out += fmt::format("The launch gives {}.\n", solved);
    for (const std::string& remark : compared.remarks) out += md_prose(remark) + "\n";
    out += "\n" + compared_table(compared);
  }
  for (const MeasuredRun::Sampled& sampled : run.sampled) {
    if (sampled.kernel == compared.kernel && sampled.name == kernel.name)
      out += hot_lines_text(sampled);
  }
  return out + "\n## Checklist\n\n" + verified_list(compared, kernel);
}

std::vector<std::string> compared_parts(const MeasuredRun& run) {
  std::vector<std::string> parts(run.contexts.size());
  for (const ComparedKernel& compared : run.compared) {
    if (compared.context < parts.size()) parts[compared.context] = compared_part(run, compared);
  }
  return parts;
}

Table compared_sheet(const std::vector<MeasuredRun>& runs) {
  Table table("expected_vs_measured");
  Column& file = table.text_column("File");
  Column& name = table.text_column("Kernel name");
  Column& source = table.text_column("Source");
  Column& grid = table.text_column("Grid");
  Column& block = table.text_column("Block");
  Column& quantity = table.text_column("Quantity");
  Column& unit = table.text_column("Unit");
  Column& low = table.real_column("Expected, least");
  Column& high = table.real_column("Expected, most");
  Column& measured = table.real_column("Measured");
  Column& expected_text = table.text_column("Expected");
  Column& measured_text = table.text_column("Measured as text");
  Column& verdict = table.text_column("Verdict");
  Column& reason = table.text_column("Reason");
  Column& command = table.text_column("Command");
  const auto text = [](Column& column, std::string_view cell) {
    cell.empty() ? column.add_unknown() : column.add(cell);
  };
  const auto dims = [&text](Column& column, const std::optional<Dim3>& d) {
    text(column, d ? fmt::format("({}, {}, {})", d->x, d->y, d->z) : std::string());
  };
  for (const MeasuredRun& run : runs) {
    for (const ComparedKernel& kernel : run.compared) {
      const KernelContext& context = run.contexts[kernel.context];
      const auto add_launch = [&] {
        file.add(context.file);
        name.add(context.name);
        text(source, context.source);
        dims(grid, context.launch.grid);
        dims(block, context.launch.block);
      };
      if (!kernel.not_comparable.empty()) {
        add_launch();
        quantity.add("all");
        for (Column* column : {&unit, &low, &high, &measured, &expected_text, &measured_text})
          column->add_unknown();
        verdict.add(comparison_name(Comparison::kNotComparable));
        reason.add(kernel.not_comparable);
        command.add_unknown();
      }
      for (const ComparedQuantity& one : kernel.quantities) {
        add_launch();
        quantity.add(one.title);
        text(unit, one.unit);
        low.add(one.low);
        high.add(one.high);
        measured.add(one.measured);
        text(expected_text, one.expected_text);
        text(measured_text, one.measured_text);
        verdict.add(comparison_name(one.comparison));
        text(reason, one.reason);
        text(command, one.command);
      }
    }
  }
  return table;
}

std::string compared_page(const std::string& repository, const std::vector<MeasuredRun>& runs) {
  std::string out = fmt::format("# Expected against measured: {}\n\n", md_text(repository));
  ComparedCounts counts;
  size_t kernels = 0;
  for (const MeasuredRun& run : runs) {
    const ComparedCounts of_run = count_compared(run.compared);
    counts.within += of_run.within;
    counts.surprises += of_run.surprises;
    counts.not_comparable += of_run.not_comparable;
    counts.not_measured += of_run.not_measured;
    kernels += run.compared.size();
  }
  std::string line = compared_line(counts);
  line[0] = 'E';
  out +=
      line +
      ".\nExpectations are estimated from the source for the launch that was measured: its grid, "
      "block and template arguments. All values: expected_vs_measured.csv.\n";
  for (const MeasuredRun& run : runs) {
    if (!run.refusal.empty())
      out += fmt::format("\n{}: not used, {}.\n", md_code(run.file), md_prose(run.refusal));
    if (!run.doubt.empty())
      out += fmt::format("\n{}: the counters may be of another run: {}.\n", md_code(run.file),
                         md_prose(run.doubt));
    if (run.left_out > 0)
      out += fmt::format("\n{}: {} with less time are not compared.\n", md_code(run.file),
                         counted(run.left_out, "kernel and shape", "kernels and shapes"));
  }
  if (kernels == 0) return out + "\nNo kernel has both an expectation and counters.\n";
  // One line for each launch: the verdict of each quantity.
  out +=
      "\n## Overview\n\n| kernel | grid × block | source | duration, expected | measured | "
      "within "
      "| "
      "surprises | not comparable or not measured |\n|---|---|---|---:|---:|---:|---:|---:|\n";
  size_t shown = 0;
  for (const MeasuredRun& run : runs) {
    for (const ComparedKernel& kernel : run.compared) {
      if (++shown > kPageKernels) break;
      const KernelContext& context = run.contexts[kernel.context];
      const ComparedCounts one = count_compared({kernel});
      const ComparedQuantity* time = quantity_of(kernel, "time");
      out += fmt::format(
          "| {} | {} × {} | {} | {} | {} | {} | {} | {} |\n", md_code_cell(context.name),
          dims_text(context.launch.grid), dims_text(context.launch.block),
          context.source.empty() ? "" : md_code_cell(context.source),
          time == nullptr ? "" : range_text(*time), time == nullptr ? "" : measured_cell(*time),
          one.within, one.surprises,
          kernel.not_comparable.empty() ? std::to_string(one.not_comparable + one.not_measured)
                                        : md_prose_cell(kernel.not_comparable));
    }
  }
  if (kernels > kPageKernels)
    out += fmt::format("\n{} more in expected_vs_measured.csv.\n", kernels - kPageKernels);
  out +=
      "\n## Surprises\n\n| kernel | quantity | expected | measured | likeliest reason |\n"
      "|---|---|---:|---:|---|\n";
  shown = 0;
  for (const MeasuredRun& run : runs) {
    for (const ComparedKernel& kernel : run.compared) {
      for (const ComparedQuantity& one : kernel.quantities) {
        if (one.comparison != Comparison::kSurprise || ++shown > kPageKernels) continue;
        out += fmt::format("| {} | {} | {} | {} | {} |\n",
                           md_code_cell(run.contexts[kernel.context].name), one.title,
                           range_text(one), measured_cell(one), md_prose_cell(one.reason));
      }
    }
  }
  if (shown > kPageKernels)
    out += fmt::format("\n{} more in expected_vs_measured.csv.\n", shown - kPageKernels);
  if (shown == 0) out += "| none | | | | |\n";
  return out;
}

}  // namespace fathom
