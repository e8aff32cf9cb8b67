#include "sheets/kernel_sources.h"

#include <algorithm>
#include <map>

#include "base/check.h"

namespace fathom {
namespace {

// More places than this say no more than "several".
constexpr size_t kMaxPlaces = 3;

const Column& column(const Table& table, std::string_view name) {
  for (const Column& c : table.columns()) {
    if (c.name() == name) return c;
  }
  CHECK(false);
}

}  // namespace

KernelSources locate_kernels(const Table& kernel_summary, const CodeFacts& facts) {
  const KernelIdentity identity(facts);
  const Column& names = column(kernel_summary, "Kernel name");
  const Column& times = column(kernel_summary, "Kernel duration (µs)_sum");
  KernelSources out;
  out.facts = &facts;
  std::map<std::string_view, size_t> index;
  for (size_t row = 0; row < kernel_summary.rows(); ++row) {
    const auto [found, is_new] = index.try_emplace(names.text(row), out.kernels.size());
    if (is_new) {
      out.kernels.push_back({std::string(names.text(row)), 0, identity.find(names.text(row))});
    }
    out.kernels[found->second].micros += times.number(row);
  }
  for (const KernelSource& kernel : out.kernels) {
    out.total_micros += kernel.micros;
    if (!kernel.matches.empty()) out.matched_micros += kernel.micros;
    if (kernel.matches.size() > 1) out.ambiguous_micros += kernel.micros;
  }
  std::sort(out.kernels.begin(), out.kernels.end(),
            [](const KernelSource& a, const KernelSource& b) {
              return a.micros != b.micros ? a.micros > b.micros : a.kernel < b.kernel;
            });
  return out;
}

std::string source_text(const CodeFacts& facts, const std::vector<size_t>& matches) {
  std::string out;
  for (size_t i = 0; i < matches.size(); ++i) {
    if (i == kMaxPlaces) return out + " or " + std::to_string(matches.size() - i) + " more";
    const KernelFacts& kernel = facts.kernels[matches[i]];
    if (i > 0) out += " or ";
    out += facts.files[kernel.at.file].path + ":" + std::to_string(kernel.line_name);
  }
  return out;
}

std::string code_facts_text(const KernelFacts& kernel) {
  std::vector<std::string> seen;
  for (const CodeEvidence& evidence : kernel.evidence) {
    std::string text = evidence.what;
    if (!evidence.detail.empty()) text += " " + evidence.detail;
    if (std::find(seen.begin(), seen.end(), text) == seen.end()) seen.push_back(std::move(text));
  }
  std::string out;
  for (const std::string& text : seen) {
    if (!out.empty()) out += ", ";
    out += text;
  }
  return out;
}

void add_source_columns(Table& kernel_summary, const KernelSources& sources) {
  std::map<std::string_view, const KernelSource*> by_name;
  for (const KernelSource& kernel : sources.kernels) by_name[kernel.kernel] = &kernel;
  const Column& names = column(kernel_summary, "Kernel name");
  const size_t rows = kernel_summary.rows();
  Column& source = kernel_summary.text_column("Source");
  Column& code = kernel_summary.text_column("Code facts");
  for (size_t row = 0; row < rows; ++row) {
    const KernelSource& kernel = *by_name.at(names.text(row));
    if (kernel.matches.empty()) {
      source.add_unknown();
      code.add_unknown();
      continue;
    }
    source.add(source_text(*sources.facts, kernel.matches));
    // Of several candidates nothing is known that they do not share; the sheet says none.
    const bool one = kernel.matches.size() == 1;
    one ? code.add(code_facts_text(sources.facts->kernels[kernel.matches[0]])) : code.add_unknown();
  }
}

}  // namespace fathom
