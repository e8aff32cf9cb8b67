#include "session/code/page_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "report/scan/kernel_pages.h"
#include "scan/facts/fact_names.h"
#include "scan/files/source_text.h"

namespace fathom {
namespace {

constexpr size_t kKernels = 2000, kExcerptLines = 80, kLineBytes = 240, kLaunches = 4,
                 kExcerptBytes = size_t{2} << 20;

// The files that kernels stand in, each split into lines once.
class Sources {
 public:
  Sources(const CodeFacts& facts, const std::filesystem::path& root) : facts_(facts), root_(root) {}

  std::string excerpt(const KernelFacts& kernel) {
    const std::vector<std::string_view>& lines = lines_of(kernel.at.file);
    const size_t first = kernel.at.line;
    const size_t last =
        std::min<size_t>({kernel.line_last, first + kExcerptLines - 1, lines.size()});
    std::string text;
    for (size_t line = first; line > 0 && line <= last; ++line) {
      if (line > first) text += '\n';
      text += lines[line - 1].substr(0, kLineBytes);
    }
    return text;
  }

 private:
  struct File {
    std::string text;
    std::vector<std::string_view> lines;
  };

  const std::vector<std::string_view>& lines_of(uint32_t index) {
    const auto [place, is_new] = files_.try_emplace(index);
    File& file = place->second;
    if (is_new) {
      Result<std::string> text = read_source_text(root_ / facts_.files[index].path);
      if (text.ok()) file.text = std::move(text).value();
      std::string_view rest = file.text;
      while (!rest.empty()) {
        const size_t end = rest.find('\n');
        file.lines.push_back(rest.substr(0, end));
        if (file.lines.back().ends_with('\r')) file.lines.back().remove_suffix(1);
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      }
    }
    return file.lines;
  }

  const CodeFacts& facts_;
  const std::filesystem::path& root_;
  std::map<uint32_t, File> files_;
};

std::string launch_text(const CodeFacts& facts, const KernelLauncher& launch) {
  std::string text = place_text(facts, launch.at);
  if (!launch.function.empty()) text += " in " + launch.function;
  const auto add = [&text](std::string_view what, std::string_view expression) {
    if (!expression.empty()) text += fmt::format("; {} {}", what, expression);
  };
  add("grid", launch.grid);
  add("block", launch.block);
  add("shared memory", launch.shared_memory);
  return text;
}

PageKernel page_kernel(const CodeFacts& facts, const KernelFacts& kernel) {
  PageKernel out;
  out.name = kernel.name;
  out.scope = kernel.scope;
  out.kind = kernel_kind_name(kernel.kind);
  out.file = facts.files[kernel.at.file].path;
  out.line = kernel.at.line;
  out.lines = kernel.line_last >= kernel.at.line ? kernel.line_last - kernel.at.line + 1 : 0;
  out.dead = kernel.dead;
  for (const KernelLauncher& launch : kernel.launchers) {
    if (out.launches.size() < kLaunches) out.launches.push_back(launch_text(facts, launch));
  }
  for (const PathHop& hop : kernel.path) {
    out.path.push_back(fmt::format("{} {}", hop_text(hop), place_text(facts, hop.at)));
  }
  out.techniques = things_done(kernel.evidence);
  return out;
}

}  // namespace

void add_page_kernels(const CodeFacts& facts, const std::filesystem::path& root,
                      DocumentsPage& page) {
  // Then those that nothing leads to, in the order of the code.
  std::vector<uint32_t> order = foremost_kernels(facts, kKernels);
  std::vector<bool> is_listed(facts.kernels.size(), false);
  for (const uint32_t i : order) is_listed[i] = true;
  for (uint32_t i = 0; i < facts.kernels.size() && order.size() < kKernels; ++i) {
    if (!is_listed[i]) order.push_back(i);
  }
  Sources sources(facts, root);
  size_t bytes = 0;
  for (const uint32_t i : order) {
    const KernelFacts& kernel = facts.kernels[i];
    page.kernels.push_back(page_kernel(facts, kernel));
    if (bytes >= kExcerptBytes) continue;
    page.kernels.back().excerpt = sources.excerpt(kernel);
    bytes += page.kernels.back().excerpt.size();
  }
  page.kernels_left_out = facts.kernels.size() - page.kernels.size();
}

}  // namespace fathom
