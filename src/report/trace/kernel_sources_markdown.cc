#include "report/trace/kernel_sources_markdown.h"

#include <fmt/format.h>

#include "report/markdown.h"

namespace fathom {
namespace {

constexpr size_t kMaxForeign = 20;

double percent(Nanos part, Nanos whole) { return 100 * ratio(part, whole); }

std::string code_place(const CodeFacts& facts, const CodePlace& at) {
  return md_code(fmt::format("{}:{}", facts.files[at.file].path, at.line));
}

void add_launchers(std::string& out, const CodeFacts& facts, const KernelFacts& kernel) {
  for (const KernelLauncher& launcher : kernel.launchers) {
    out += fmt::format("- launched at {}", code_place(facts, launcher.at));
    if (!launcher.function.empty()) out += " in " + md_code(launcher.function);
    if (!launcher.grid.empty()) out += ", grid " + md_code(launcher.grid);
    if (!launcher.block.empty()) out += ", block " + md_code(launcher.block);
    out += '\n';
  }
}

void add_evidence(std::string& out, const CodeFacts& facts, const KernelFacts& kernel) {
  for (const CodeEvidence& evidence : kernel.evidence) {
    out += "- " + md_text(evidence.what);
    if (!evidence.detail.empty()) out += " " + md_code(evidence.detail);
    out += " at " + code_place(facts, evidence.at) + '\n';
  }
}

void add_kernel(std::string& out, const CodeFacts& facts, const CodeCoverage::Kernel& kernel,
                Nanos total) {
  out += fmt::format("\n### {}\n\n{:.1f} µs, {:.1f} % of the kernels' time (measured).\n",
                     md_code(kernel.name), kernel.time.micros(), percent(kernel.time, total));
  const std::vector<size_t>& definitions = kernel.code->definitions;
  const bool ambiguous = kernel.code->quality() == JoinQuality::kAmbiguous;
  if (ambiguous) {
    out += fmt::format("Ambiguous: its name fits {} kernels of the code.\n", definitions.size());
  }
  for (const size_t i : definitions) {
    const KernelFacts& defined = facts.kernels[i];
    out += fmt::format("\nDefined at {} to line {} (code fact).\n", code_place(facts, defined.at),
                       defined.line_last);
    add_launchers(out, facts, defined);
    if (!ambiguous) add_evidence(out, facts, defined);
  }
}

}  // namespace

std::string kernel_sources_markdown(const CodeFacts& facts, const CodeCoverage& coverage) {
  std::string out = fmt::format(
      "# Kernels in the code of {}\n\n{:.1f} % of the kernels' time is of kernels that the "
      "repository defines; {:.1f} % "
      "is ambiguous, since a name fits several.\n",
      md_text(coverage.repository), percent(coverage.found, coverage.total),
      percent(coverage.ambiguous, coverage.total));
  std::string foreign;
  size_t others = 0;
  for (const CodeCoverage::Kernel& kernel : coverage.kernels) {
    if (kernel.code->quality() != JoinQuality::kNone) {
      add_kernel(out, facts, kernel, coverage.total);
    } else if (++others <= kMaxForeign) {
      foreign += fmt::format("| {} | {:.1f} | {:.1f} |\n", md_code_cell(kernel.name),
                             kernel.time.micros(), percent(kernel.time, coverage.total));
    }
  }
  if (foreign.empty()) return out;
  out +=
      "\n## Not in the repository\n\n| kernel | µs | % of the kernels' time |\n|---|---:|---:|\n" +
      foreign;
  if (others > kMaxForeign) out += fmt::format("\n{} more.\n", others - kMaxForeign);
  return out;
}

}  // namespace fathom
