#include "story/kernel_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace fathom {
namespace {

const CodeEvidence* find(const KernelFacts& kernel, std::string_view what) {
  for (const CodeEvidence& evidence : kernel.evidence) {
    if (evidence.what == what && evidence.certainty != Certainty::kUnsure) return &evidence;
  }
  return nullptr;
}

void note_small_grid(const Expectation& expected, const Platform* platform,
                     std::vector<KernelNote>& out) {
  if (!expected.launch || !expected.launch->blocks || platform == nullptr ||
      !platform->compute_units)
    return;
  const double blocks = *expected.launch->blocks;
  const auto units = static_cast<double>(*platform->compute_units);
  if (blocks >= units || blocks <= 0) return;
  out.push_back(
      {fmt::format("The grid has {:.0f} blocks for {:.0f} {}s: at most {:.0f} % of them have work.",
                   blocks, units, platform->unit_name, 100 * blocks / units),
       expected.launch->launcher->at, "derived"});
}

// A parameter like `float4* out`: the accesses are wide without a cast that would say so.
bool takes_vectors(std::string_view parameters) {
  constexpr std::array<std::string_view, 6> types = {"float4",  "uint4",  "int4",
                                                     "double2", "float2", "x128"};
  return std::any_of(types.begin(), types.end(), [&](std::string_view type) {
    return parameters.find(type) != std::string_view::npos;
  });
}

void note_narrow_access(const KernelFacts& kernel, const Expectation& expected,
                        std::vector<KernelNote>& out) {
  const bool moves_data = expected.model && expected.model->model->flops != "2 * m * n * k";
  const bool python = kernel.kind == KernelKind::kTriton || kernel.kind == KernelKind::kCute;
  if (!moves_data || python || kernel.evidence.empty()) return;
  const bool wide =
      find(kernel, "vector_access") || find(kernel, "tma_load") || find(kernel, "cp_async");
  if (wide || takes_vectors(kernel.parameters)) return;
  out.push_back(
      {"No vector access is seen in the code that it reaches: each thread moves one element at a "
       "time, so more "
       "instructions and more rounds of waiting than 16-byte accesses need.",
       {kernel.at.file, kernel.line_name},
       "derived"});
}

void note_pdl(const KernelFacts& kernel, std::vector<KernelNote>& out) {
  const CodeEvidence* wait = find(kernel, "pdl_wait");
  if (wait == nullptr) return;
  for (const KernelLauncher& launcher : kernel.launchers) {
    for (const NamedValue& value : launcher.values) {
      if (value.name.find("pdl") == std::string::npos || value.text != "false") continue;
      out.push_back({"Programmatic dependent launch is built in but off by default (" + value.name +
                         " = false).",
                     value.at, "code fact"});
      return;
    }
  }
}

void note_scatter(const KernelFacts& kernel, std::vector<KernelNote>& out) {
  std::vector<const CodeEvidence*> scatters;
  for (const CodeEvidence& evidence : kernel.evidence) {
    if (evidence.what == "scatter") scatters.push_back(&evidence);
  }
  if (scatters.size() < 2) return;
  out.push_back({fmt::format("{} arrays are written one after the other by the same warp; their "
                             "loads could all be issued "
                             "before the first store.",
                             scatters.size()),
                 scatters[1]->at, "derived"});
}

void note_launch_bounds(const KernelFacts& kernel, std::vector<KernelNote>& out) {
  const CodeEvidence* bounds = find(kernel, "launch_bounds");
  if (bounds == nullptr) return;
  for (const KernelLauncher& launcher : kernel.launchers) {
    for (const NamedValue& value : launcher.values) {
      const bool minimum = value.name.find("concurrency") != std::string::npos ||
                           value.name.find("occupancy") != std::string::npos;
      if (!minimum || value.text != "1") continue;
      out.push_back({"Launch bounds ask for one block per SM only (" + value.name +
                         " = 1), so the compiler may use registers that keep others out.",
                     value.at, "code fact"});
      return;
    }
  }
}

}  // namespace

std::vector<KernelNote> notes_on(const KernelFacts& kernel, const Expectation& expected,
                                 const Platform* platform) {
  std::vector<KernelNote> out;
  if (kernel.dead)
    out.push_back({"Nothing launches it: it can be deleted, or its launch is missing.", kernel.at,
                   "code fact"});
  note_small_grid(expected, platform, out);
  note_narrow_access(kernel, expected, out);
  note_pdl(kernel, out);
  note_launch_bounds(kernel, out);
  note_scatter(kernel, out);
  return out;
}

}  // namespace fathom
