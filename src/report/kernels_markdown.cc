#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/glob.h"
#include "base/units.h"
#include "report/markdown.h"
#include "report/scan_counts.h"
#include "report/scan_report.h"
#include "scan/fact_names.h"

namespace fathom {
namespace {

// In a section; the rest is in scan.json.
constexpr size_t kLaunchers = 6, kPlacesOfFeature = 3, kExpression = 160;
// In a cell of the overview.
constexpr size_t kFeatures = 6;

std::string number(size_t value) { return with_thousands(static_cast<int64_t>(value)); }

std::string code(std::string_view text) {
  return md_code(screen_width(text) > kExpression ? fit_left(text, kExpression)
                                                  : std::string(text));
}

std::string unless_certain(Certainty certainty) {
  return certainty == Certainty::kCertain ? "" : fmt::format(" ({})", certainty_name(certainty));
}

// What it does, each thing once, in the order of the code.
std::vector<std::string> features_of(const std::vector<CodeEvidence>& evidence) {
  std::vector<std::string> features;
  for (const CodeEvidence& e : evidence) {
    if (std::ranges::find(features, e.what) == features.end()) features.push_back(e.what);
  }
  return features;
}

void add_kinds(const CodeFacts& facts, std::string& out) {
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
         &launched = table.count_column("launcher known"), &dead = table.count_column("dead");
  for (const auto& [name, counts] : kinds) {
    kind.add(kernel_kind_name(name));
    kernels.add(counts.kernels);
    launched.add(counts.launched);
    dead.add(counts.dead);
  }
  out += "\n" + md_table(table, {{"kind"}, {}});
}

void add_overview(const CodeFacts& facts, std::string& out) {
  out += "\n## Overview\n\n";
  Table table("kernels");
  Column &where = table.text_column("where"), &name = table.text_column("kernel"),
         &kind = table.text_column("kind"), &lines = table.count_column("lines"),
         &launchers = table.count_column("launchers"), &does = table.text_column("what it does");
  for (const KernelFacts& k : facts.kernels) {
    std::vector<std::string> features = features_of(k.evidence);
    const size_t all = features.size();
    if (all > kFeatures) features.resize(kFeatures);
    where.add(place_text(facts, k.at));
    name.add(k.name);
    kind.add(kernel_kind_name(k.kind));
    lines.add(k.line_last >= k.at.line ? std::optional<int64_t>(k.line_last - k.at.line + 1)
                                       : std::optional<int64_t>());
    launchers.add(static_cast<int64_t>(k.launchers.size()));
    does.add(fmt::format("{}{}{}", k.dead ? "dead; " : "", fmt::join(features, ", "),
                         all > kFeatures ? " …" : ""));
  }
  out += md_table(table, {{"where", "kernel"}, {}});
}

void add_dead(const CodeFacts& facts, std::string& out) {
  const size_t dead = count_dead(facts);
  if (dead == 0) return;
  out +=
      fmt::format("\n## Dead kernels ({})\n\nNothing in the repository launches or names them.\n\n",
                  number(dead));
  for (const KernelFacts& k : facts.kernels) {
    if (k.dead)
      out += fmt::format("- {} {}\n", md_code(full_name(k)), md_code(place_text(facts, k.at)));
  }
}

void add_launchers(const CodeFacts& facts, const KernelFacts& k, std::string& out) {
  for (size_t i = 0; i < std::min(k.launchers.size(), kLaunchers); ++i) {
    const KernelLauncher& l = k.launchers[i];
    std::string place = place_text(facts, l.at);
    if (l.line_last > l.at.line) place += fmt::format("-{}", l.line_last);
    out += fmt::format("- **Launched** {}", md_code(place));
    if (!l.function.empty()) out += fmt::format(" in {}", code(l.function));
    if (!l.via.empty()) out += fmt::format(" through {}", code(l.via));
    const auto add = [&out](std::string_view what, std::string_view expression) {
      if (!expression.empty()) out += fmt::format("; {} {}", what, code(expression));
    };
    add("grid", l.grid);
    add("block", l.block);
    add("shared memory", l.shared_memory);
    add("stream", l.stream);
    add("template arguments", l.template_arguments);
    for (const std::string& attribute : l.attributes)
      out += fmt::format("; {}", md_text(attribute));
    out += unless_certain(l.certainty) + "\n";
  }
  if (k.launchers.size() > kLaunchers) {
    out += fmt::format("- … {} more launchers in [scan.json](scan.json)\n",
                       k.launchers.size() - kLaunchers);
  }
  if (k.dead) {
    out += "- **Dead**: nothing in the repository launches or names it\n";
  } else if (k.launchers.empty()) {
    out += "- **Launched** at no place that the scan could follow\n";
  }
}

void add_path(const CodeFacts& facts, const std::vector<PathHop>& path, std::string& out) {
  if (path.empty()) return;
  out += "- **Path** ";
  for (size_t i = 0; i < path.size(); ++i) {
    out += fmt::format("{}{} {}{}", i == 0 ? "" : " → ", md_text(path[i].what),
                       md_code(place_text(facts, path[i].at)), unless_certain(path[i].certainty));
  }
  out += "\n";
}

void add_evidence(const CodeFacts& facts, const std::vector<CodeEvidence>& evidence,
                  std::string_view own_name, std::string& out) {
  for (const std::string& what : features_of(evidence)) {
    out += fmt::format("- **{}**", md_text(what));
    size_t shown = 0, all = 0;
    for (const CodeEvidence& e : evidence) {
      if (e.what != what) continue;
      if (++all > kPlacesOfFeature) continue;
      out += shown++ == 0 ? " " : ", ";
      if (!e.detail.empty()) out += code(e.detail) + " ";
      out += md_code(place_text(facts, e.at));
      if (!e.function.empty() && e.function != own_name)
        out += fmt::format(" in {}", code(e.function));
      out += unless_certain(e.certainty);
    }
    if (all > shown) out += fmt::format(" and {} more places", all - shown);
    out += "\n";
  }
}

bool gets_story(const CodeFacts& facts, const KernelFacts& k, const StoryContext& context) {
  if (context.kernels.empty()) return facts.kernels.size() <= kMaxStories;
  return glob_matches(context.kernels, k.name);
}

void add_kernel(const CodeFacts& facts, const KernelFacts& k, const StoryContext& context,
                std::string& out) {
  out += fmt::format("\n### {}\n\n", md_code(full_name(k)));
  out += fmt::format("- **Code** {}",
                     md_code(fmt::format("{}-{}", place_text(facts, k.at), k.line_last)));
  if (k.line_name != k.at.line) out += fmt::format(", named in line {}", k.line_name);
  out += fmt::format("; {}", md_text(kernel_kind_name(k.kind)));
  if (!k.template_parameters.empty())
    out += fmt::format("; template {}", code(k.template_parameters));
  for (const std::string& attribute : k.attributes) out += fmt::format("; {}", code(attribute));
  if (!k.condition.empty()) out += fmt::format("; where {}", code(k.condition));
  out += unless_certain(k.certainty) + "\n";
  add_launchers(facts, k, out);
  add_path(facts, k.path, out);
  add_evidence(facts, k.evidence, k.name, out);
  if (!k.profiler_name.empty()) {
    out += fmt::format("- **In a profile** {}\n", code(k.profiler_name));
  }
  if (gets_story(facts, k, context)) out += kernel_story(facts, k, context);
}

void add_sections(const CodeFacts& facts, const StoryContext& context, std::string& out) {
  std::optional<uint32_t> file;
  for (const KernelFacts& k : facts.kernels) {
    if (!file || *file != k.at.file) {
      out += fmt::format("\n## {}\n", md_code(facts.files[k.at.file].path));
      file = k.at.file;
    }
    add_kernel(facts, k, context, out);
  }
}

void add_host_functions(const CodeFacts& facts, const StoryContext& context, std::string& out) {
  if (facts.host_functions.empty()) return;
  out += "\n## Host functions on the way\n";
  for (const HostFacts& h : facts.host_functions) {
    const std::string name = h.scope.empty() ? h.name : h.scope + "::" + h.name;
    out += fmt::format("\n### {}\n\n- **Code** {}{}\n", md_code(name),
                       md_code(fmt::format("{}-{}", place_text(facts, h.at), h.line_last)),
                       unless_certain(h.certainty));
    out += host_story(facts, h, context);
  }
}

// What is expected of each kernel, where a workload and a GPU were named.
void add_expected(const CodeFacts& facts, const StoryContext& context, std::string& out) {
  if (context.platform == nullptr || context.parameters.empty()) return;
  Table table("expected");
  Column &name = table.text_column("kernel"), &side = table.text_column("bound by"),
         &time = table.text_column("time");
  for (const KernelFacts& k : facts.kernels) {
    if (k.dead || !gets_story(facts, k, context)) continue;
    name.add(full_name(k));
    side.add(expected_side(k, context));
    time.add(expected_time(k, context));
  }
  if (table.rows() == 0) return;
  out += fmt::format("\n## Expected on {} (estimated)\n\n{}", md_text(context.platform->name),
                     md_table(table, {{"kernel"}, {}}));
}

void add_checklist(std::string& out) {
  out +=
      "\n## Profiling checklist\n\n"
      "- [ ] duration of each kernel within its expected range; outside it, the model or the "
      "kernel is wrong\n"
      "- [ ] `dram__throughput` and the tensor pipe within their ranges\n"
      "- [ ] the first stall reason is the expected one\n"
      "- [ ] no local memory traffic (`sm__sass_data_bytes_mem_local.sum` is 0): no spilled "
      "registers\n"
      "- [ ] achieved occupancy near the expected; lower means registers or shared memory limit "
      "it\n"
      "- [ ] `l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum` under 10 % of "
      "`l1tex__data_pipe_lsu_wavefronts_mem_shared.sum`, where shared memory is used\n";
}

}  // namespace

std::string kernels_markdown(const CodeFacts& facts, const StoryContext& context) {
  std::string out = fmt::format("# Kernels: {}\n\n", md_text(facts.repository));
  if (facts.kernels.empty()) {
    out += "No GPU kernel found.\n";
    add_host_functions(facts, context, out);
    return out;
  }
  const size_t files = count_kernel_files(facts).size(), all = facts.kernels.size();
  out += fmt::format(
      "{} {} in {} {}; {} dead, {} more without a launcher that the scan could follow.\n",
      number(all), all == 1 ? "kernel" : "kernels", number(files), files == 1 ? "file" : "files",
      number(count_dead(facts)), number(count_without_launcher(facts)));
  out +=
      "Expressions are as the code writes them; what stands in no line is not said. All facts with "
      "their places: [scan.json](scan.json).\n";
  if (context.kernels.empty() && all > kMaxStories) {
    out +=
        "Execution stories are left out of so many; `fathom scan REPO --kernel 'NAME*'` tells "
        "those of some.\n";
  }
  add_kinds(facts, out);
  if (const auto features = count_kernel_features(facts); !features.empty()) {
    out += "\nWhat they do, in how many of them: ";
    for (size_t i = 0; i < features.size(); ++i) {
      out +=
          fmt::format("{}{} {}", i == 0 ? "" : ", ", md_text(features[i].name), features[i].count);
    }
    out += ".\n";
  }
  add_overview(facts, out);
  add_expected(facts, context, out);
  add_dead(facts, out);
  add_sections(facts, context, out);
  add_host_functions(facts, context, out);
  add_checklist(out);
  return out;
}

}  // namespace fathom
