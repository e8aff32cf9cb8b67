#include "report/trace/kernel_sources_markdown.h"

#include <fmt/format.h>

#include "report/markdown.h"

namespace fathom {
namespace {

constexpr size_t kMaxForeign = 20;

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

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

void add_kernel(std::string& out, const KernelSources& sources, const KernelSource& source) {
  const CodeFacts& facts = *sources.facts;
  out += fmt::format("\n### {}\n\n{:.1f} µs, {:.1f} % of the kernels' time (measured).\n",
                     md_code(source.kernel), source.micros,
                     percent(source.micros, sources.total_micros));
  if (source.matches.size() > 1) {
    out += fmt::format("Ambiguous: its name fits {} kernels of the code.\n", source.matches.size());
  }
  for (const size_t i : source.matches) {
    const KernelFacts& kernel = facts.kernels[i];
    out += fmt::format("\nDefined at {} to line {} (code fact).\n", code_place(facts, kernel.at),
                       kernel.line_last);
    add_launchers(out, facts, kernel);
    if (source.matches.size() == 1) add_evidence(out, facts, kernel);
  }
}

}  // namespace

std::string kernel_sources_markdown(const KernelSources& sources) {
  std::string out = fmt::format(
      "# Kernels in the code of {}\n\n{:.1f} % of the kernels' time is of kernels that the "
      "repository defines; {:.1f} % "
      "is ambiguous, since a name fits several.\n",
      md_text(sources.facts->repository), percent(sources.matched_micros, sources.total_micros),
      percent(sources.ambiguous_micros, sources.total_micros));
  std::string foreign;
  size_t others = 0;
  for (const KernelSource& source : sources.kernels) {
    if (!source.matches.empty()) {
      add_kernel(out, sources, source);
    } else if (++others <= kMaxForeign) {
      foreign += fmt::format("| {} | {:.1f} | {:.1f} |\n", md_code_cell(source.kernel),
                             source.micros, percent(source.micros, sources.total_micros));
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
