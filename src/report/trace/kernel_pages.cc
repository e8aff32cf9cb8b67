#include "report/trace/kernel_pages.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/kernel_name.h"
#include "report/markdown.h"

namespace fathom {
namespace {

// Letters, digits and "_" of the name without scopes and arguments.
std::string page_name(const KernelContext& kernel, size_t number) {
  std::string out = fmt::format("{:02}_", number);
  const KernelName name = normal_kernel_name(kernel.name);
  for (const char c : name.base().substr(0, 60)) out += is_word_character(c) ? c : '_';
  return out;
}

std::string page_of(const KernelContext& kernel, const std::string& drawings, bool has_roofline,
                    bool has_stalls) {
  std::string out = fmt::format("# {}\n\n", md_code(kernel.name));
  const auto dims = [](const std::optional<Dim3>& d) {
    return d ? fmt::format("{} × {} × {}", d->x, d->y, d->z) : std::string("unknown");
  };
  const std::string time =
      kernel.is_timed()
          ? fmt::format("{:.1f} µs in all", static_cast<double>(kernel.time.count) / 1e3)
          : "time unknown";
  out +=
      fmt::format("{} run{}, {}. Grid {}, block {}.\n", kernel.count, kernel.count == 1 ? "" : "s",
                  time, dims(kernel.launch.grid), dims(kernel.launch.block));
  const KernelTraits& traits = kernel.traits;
  if (!traits.family.empty()) {
    out += fmt::format("Family {}", traits.family);
    if (!traits.library.empty()) out += fmt::format(" ({})", traits.library);
    if (!traits.tile.empty()) out += fmt::format(", tile {}", traits.tile);
    if (!traits.dtype.empty()) out += fmt::format(", {}", traits.dtype);
    if (!traits.layout.empty()) out += fmt::format(", layout {}", traits.layout);
    out += ", read from its name.\n";
  }
  if (!kernel.source.empty()) {
    out += fmt::format("Defined at {}", md_code(kernel.source));
    if (!kernel.code_facts.empty())
      out += fmt::format("; the code shows: {}", md_text(kernel.code_facts));
    out += ".\n";
  }
  out += fmt::format("Counters from {}, join: {}, trusted: {}.\n", md_code(kernel.file),
                     quality_text(kernel.quality), kernel.trust);
  if (!kernel.which.empty()) out += fmt::format("The verdicts are for {}.\n", kernel.which);
  if (!kernel.is_trusted) {
    out +=
        "\nThe counted runs took over twice as long as in the trace. Their counters are of another "
        "situation, and no hypothesis is tested by them.\n";
  }
  out += "\n## Hypotheses\n\n" + hypothesis_tables(kernel);
  out += "\n## Hardware context (measured)\n\n" + context_table(kernel);
  if (has_roofline) out += fmt::format("\n![Measured roofline]({}_roofline.svg)\n", drawings);
  if (has_stalls) out += fmt::format("\n![Stall reasons]({}_stalls.svg)\n", drawings);
  return out;
}

}  // namespace

std::vector<ReportFile> kernel_pages(const std::vector<KernelContext>& kernels,
                                     const std::vector<std::string>& code_parts) {
  std::vector<ReportFile> files;
  size_t number = 0;
  for (size_t i = 0; i < kernels.size(); ++i) {
    const KernelContext& kernel = kernels[i];
    if (kernel.file.empty()) continue;
    if (++number > kMostKernelPages) break;
    const std::string name = page_name(kernel, number);
    std::string roofline = roofline_svg(kernel), stalls = stalls_svg(kernel);
    files.push_back(
        {"kernels/" + name + ".md", page_of(kernel, name, !roofline.empty(), !stalls.empty()) +
                                        (i < code_parts.size() ? code_parts[i] : std::string())});
    if (!roofline.empty())
      files.push_back({"kernels/" + name + "_roofline.svg", std::move(roofline)});
    if (!stalls.empty()) files.push_back({"kernels/" + name + "_stalls.svg", std::move(stalls)});
  }
  return files;
}

}  // namespace fathom
