#include "report/scan/kernel_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "base/count_text.h"
#include "base/text_parts.h"
#include "base/tsv.h"
#include "report/markdown.h"
#include "report/scan/ranking.h"
#include "report/scan/scan_counts.h"
#include "scan/facts/fact_names.h"
#include "scan/facts/pattern_ids.h"
#include "scan/features/feature_rules.h"

namespace fathom {
namespace {

// In a cell of a table of kernels.
constexpr size_t kThings = 6;
// On the top page of many.
constexpr size_t kForemost = 20, kThingsNamed = 30;

std::string things_cell(const KernelFacts& k) {
  std::vector<std::string> things = things_done(k.evidence);
  const size_t all = things.size();
  if (all > kThings) things.resize(kThings);
  std::string out = k.dead ? "dead" : "";
  for (const std::string& thing : things) out += (out.empty() ? "" : ", ") + md_code_cell(thing);
  return out + (all > kThings ? " …" : "");
}

std::optional<int64_t> lines_of(const KernelFacts& k) {
  if (k.line_last < k.at.line) return std::nullopt;
  return k.line_last - k.at.line + 1;
}

}  // namespace

void add_kernel_kinds(const CodeFacts& facts, std::string& out) {
  struct Counts {
    int64_t kernels = 0, launched = 0, dead = 0;
  };
  std::map<KernelKind, Counts> kinds;
  for (const KernelFacts& k : facts.kernels) {
    Counts& counts = kinds[k.kind];
    ++counts.kernels;
    counts.launched += !k.launchers.empty();
    counts.dead += k.dead;
  }
  Table table("kinds");
  Column &kind = table.text_column("kind"), &kernels = table.count_column("kernels"),
         &launched = table.count_column("with launch site"), &dead = table.count_column("dead");
  for (const auto& [name, counts] : kinds) {
    kind.add(kernel_kind_name(name));
    kernels.add(counts.kernels);
    launched.add(counts.launched);
    dead.add(counts.dead);
  }
  out += "\n" + md_table(table, {{"kind"}, {}});
}

void add_kernel_things(const CodeFacts& facts, std::string& out) {
  const auto things = count_kernel_features(facts);
  if (things.empty()) return;
  out += "\nKernels that use each technique: ";
  for (size_t i = 0; i < std::min(things.size(), kThingsNamed); ++i) {
    out += fmt::format("{}{} {}", i == 0 ? "" : ", ", md_code(things[i].name),
                       number_text(things[i].count));
  }
  if (things.size() > kThingsNamed)
    out += fmt::format(" and {} more", things.size() - kThingsNamed);
  out += ".\n";
}

void add_kernel_table(const CodeFacts& facts, const std::vector<uint32_t>& kernels,
                      const std::vector<std::string>& anchors, std::string& out) {
  Table table("kernels");
  Column &where = table.text_column("where"), &name = table.text_column("kernel"),
         &kind = table.text_column("kind"), &lines = table.count_column("lines"),
         &launchers = table.count_column("launchers"), &does = table.text_column("techniques");
  for (const uint32_t i : kernels) {
    const KernelFacts& k = facts.kernels[i];
    where.add(place_text(facts, k.at));
    name.add(md_link_cell(k.name, "#" + anchors[i]));
    kind.add(kernel_kind_name(k.kind));
    lines.add(lines_of(k));
    launchers.add(static_cast<int64_t>(k.launchers.size()));
    does.add(things_cell(k));
  }
  out += "\n" +
         md_table(table, {.code_columns = {"where"}, .markdown_columns = {"kernel", "techniques"}});
}

void add_expected_table(const CodeFacts& facts, const Stories& stories,
                        const std::vector<ExpectedRow>& rows, const std::vector<std::string>& links,
                        std::string& out) {
  if (stories.platform.empty() || stories.parameters.empty() || rows.empty()) return;
  Table table("expected");
  Column &name = table.text_column("kernel"), &launch = table.text_column("blocks × threads"),
         &bytes = table.text_column("bytes"), &time = table.text_column("time"),
         &side = table.text_column("bound by");
  for (const ExpectedRow& row : rows) {
    name.add(md_link_cell(full_name(facts.kernels[row.kernel]), links[row.kernel]));
    launch.add(row.launch);
    bytes.add(row.bytes);
    time.add(row.time);
    side.add(row.side);
  }
  out += fmt::format("\n## Expected on {} (estimated)\n\n{}", md_text(stories.platform),
                     md_table(table, {.markdown_columns = {"kernel", "blocks × threads", "bytes",
                                                           "time", "bound by"}}));
}

void add_dead_kernels(const CodeFacts& facts, size_t at_most, std::string& out) {
  const size_t dead = count_dead(facts);
  if (dead == 0) return;
  out += fmt::format(
      "\n## Dead kernels ({})\n\nNot launched or referenced anywhere in the repository.\n\n",
      number_text(dead));
  size_t shown = 0;
  for (const KernelFacts& k : facts.kernels) {
    if (!k.dead || shown++ >= at_most) continue;
    out += fmt::format("- {} {}\n", md_code(full_name(k)), md_code(place_text(facts, k.at)));
  }
  if (dead > at_most) out += fmt::format("- {} more\n", number_text(dead - at_most));
}

void add_profiling_checklist(std::string& out) {
  out +=
      "\n## Profiling checklist\n\n"
      "- [ ] each kernel's duration is within its expected range; otherwise check the model "
      "and the kernel\n"
      "- [ ] `dram__throughput` and the tensor pipe within their ranges\n"
      "- [ ] the first stall reason is the expected one\n"
      "- [ ] no local memory traffic (`sm__sass_data_bytes_mem_local.sum` is 0): no spilled "
      "registers\n"
      "- [ ] achieved occupancy near the expected; lower means registers or shared memory limit "
      "it\n"
      "- [ ] `l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum` under 10 % of "
      "`l1tex__data_pipe_lsu_wavefronts_mem_shared.sum`, where shared memory is used\n";
}

void add_kernel_folders(const CodeFacts& facts, const std::vector<KernelGroup>& groups,
                        std::string& out) {
  out +=
      "\n## By folder\n\nEach kernel in full, with its execution story and the hardware "
      "behaviour to expect, is on the page of its folder.\n\n";
  Table table("folders");
  Column &title = table.text_column("folder"), &kernels = table.count_column("kernels"),
         &files = table.count_column("files"), &kinds = table.text_column("kinds"),
         &things = table.text_column("most used techniques");
  for (const KernelGroup& group : groups) {
    std::set<uint32_t> in_files;
    std::map<std::string, size_t> kind_counts, thing_counts;
    for (const uint32_t i : group.kernels) {
      const KernelFacts& k = facts.kernels[i];
      in_files.insert(k.at.file);
      ++kind_counts[std::string(kernel_kind_name(k.kind))];
      for (const std::string& thing : things_done(k.evidence)) ++thing_counts[thing];
    }
    std::string done;
    const std::vector<NameCount> sorted = by_count(thing_counts);
    for (size_t i = 0; i < std::min<size_t>(sorted.size(), 3); ++i)
      done += (i == 0 ? "" : ", ") + md_code_cell(sorted[i].name);
    title.add(md_link_cell(group.title, group.link));
    kernels.add(static_cast<int64_t>(group.kernels.size()));
    files.add(static_cast<int64_t>(in_files.size()));
    kinds.add(joined_counts(by_count(kind_counts)));
    things.add(done);
  }
  out += md_table(table, {.markdown_columns = {"folder", "kinds", "most used techniques"}});
}

void add_foremost_kernels(const CodeFacts& facts, const std::vector<std::string>& links,
                          std::string& out) {
  out +=
      "\n## Most important kernels\n\nDerived. Product code before tests and tools; then by "
      "products "
      "on tensor cores or of tiles, request paths that end at the kernel, lines, callers and "
      "launch "
      "sites. Kernels that set up, copy or check come last.\n\n";
  std::map<uint32_t, int64_t> ways;
  for (const RequestPath& path : facts.request_paths) {
    if (path.kernel) ++ways[*path.kernel];
  }
  Table table("foremost");
  Column &name = table.text_column("kernel"), &where = table.text_column("where"),
         &requests = table.count_column("request paths"), &callers = table.count_column("callers"),
         &launchers = table.count_column("launches"), &lines = table.count_column("lines");
  for (const uint32_t i : foremost_kernels(facts, kForemost)) {
    const KernelFacts& k = facts.kernels[i];
    const auto found = ways.find(i);
    name.add(md_link_cell(k.name, links[i]));
    where.add(place_text(facts, k.at));
    requests.add(found == ways.end() ? std::optional<int64_t>() : found->second);
    callers.add(static_cast<int64_t>(k.callers.size()));
    launchers.add(static_cast<int64_t>(k.launchers.size()));
    lines.add(lines_of(k));
  }
  out += md_table(table, {.code_columns = {"where"}, .markdown_columns = {"kernel"}});
}

namespace {

// Kernels beside the work: they fill, copy, convert, check or stand for another.
bool serves_others(std::string_view name) {
  const std::string folded = fold_name(name);
  return std::ranges::any_of(split(folded, '_'), [&](std::string_view word) {
    return is_one_of(word,
                     {"init",  "zero",   "fill",  "memset",  "set",   "reset",    "clear",  "dummy",
                      "copy",  "memcpy", "cast",  "convert", "check", "verify",   "warmup", "debug",
                      "print", "test",   "count", "ref",     "nan",   "reference"});
  });
}

int kernel_weight(const KernelFacts& kernel, size_t ways) {
  const auto multiplies = [](const CodeEvidence& evidence) {
    return is_one_of(evidence.what, {pattern_id::kTcgen05, pattern_id::kWgmma, pattern_id::kMmaSync,
                                     pattern_id::kWmma, pattern_id::kMfma, pattern_id::kTileDot});
  };
  const auto size = [](size_t count) { return static_cast<int>(std::bit_width(count)); };
  const int lines = size(static_cast<size_t>(lines_of(kernel).value_or(0)));
  return (std::ranges::any_of(kernel.evidence, multiplies) ? 4 : 0) + (ways > 0 ? 2 : 0) + lines +
         size(kernel.callers.size()) / 2 + size(kernel.launchers.size()) / 2 -
         (serves_others(kernel.name) ? 5 : 0) - (kernel.launchers.empty() ? 1 : 0);
}

}  // namespace

std::vector<uint32_t> foremost_kernels(const CodeFacts& facts, size_t at_most) {
  std::vector<size_t> ways(facts.kernels.size());
  for (const RequestPath& path : facts.request_paths) {
    if (path.kernel) ++ways[*path.kernel];
  }
  std::vector<uint32_t> order;
  for (uint32_t i = 0; i < facts.kernels.size(); ++i) {
    if (!facts.kernels[i].dead) order.push_back(i);
  }
  std::vector<int> weights(facts.kernels.size());
  for (const uint32_t i : order) weights[i] = kernel_weight(facts.kernels[i], ways[i]);
  const auto weight = [&](uint32_t i) {
    return std::tuple(!is_aside(facts.files[facts.kernels[i].at.file]), weights[i], ways[i]);
  };
  std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) { return weight(b) < weight(a); });
  if (order.size() > at_most) order.resize(at_most);
  return order;
}

}  // namespace fathom
