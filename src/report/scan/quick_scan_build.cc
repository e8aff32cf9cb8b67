#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

#include "base/count_text.h"
#include "base/screen_text.h"
#include "report/markdown.h"
#include "report/scan/quick_scan.h"
#include "report/scan/ranking.h"
#include "report/scan/scan_counts.h"
#include "scan/facts/code_names.h"
#include "scan/facts/fact_names.h"
#include "scan/files/code_purpose.h"

namespace fathom {
namespace {

constexpr size_t kSwitches = 10, kBuildVariables = 6, kApiRows = 8, kKernelsOfRow = 4,
                 kDispatchers = 3, kChoices = 6;

// What a file is in the repository for.
enum class FilePurpose : uint8_t { kProduct, kTests, kExamples, kDocuments, kOther, kCopies };

FilePurpose file_purpose(const SourceFile& file) {
  if (file.origin == Origin::kVendored || file.origin == Origin::kSubmodule)
    return FilePurpose::kCopies;
  const CodePurpose purpose = purpose_of(file.path);
  if (purpose == CodePurpose::kTest) return FilePurpose::kTests;
  if (file.language == Language::kMarkdown || file.language == Language::kRestructuredText ||
      purpose == CodePurpose::kDocument)
    return FilePurpose::kDocuments;
  if (purpose == CodePurpose::kExample || purpose == CodePurpose::kBenchmark)
    return FilePurpose::kExamples;
  return is_aside(file) ? FilePurpose::kOther : FilePurpose::kProduct;
}

// Environment variables that are read while the package is built.
bool builds(std::string_view path) {
  const std::string_view name = file_name(path);
  return name == "setup.py" || path.starts_with("build_tools/") ||
         path.starts_with("tools/setup") || name == "build_backend.py" ||
         name == "custom_build_backend.py";
}

}  // namespace

std::string purposes_text(const CodeFacts& facts) {
  constexpr std::array<std::string_view, 6> titles = {
      "product", "tests", "examples and benchmarks", "documents", "tools and development",
      "copies"};
  std::array<SizeCount, titles.size()> counts;
  for (const SourceFile& file : facts.files)
    counts[static_cast<size_t>(file_purpose(file))].add(file);
  std::vector<std::string> parts;
  for (size_t i = 0; i < titles.size(); ++i) {
    if (counts[i].files > 0)
      parts.push_back(fmt::format("{} {} ({})", titles[i],
                                  counted(counts[i].files, "file", "files"),
                                  counted(counts[i].lines, "line", "lines")));
  }
  return parts.size() < 2
             ? ""
             : fmt::format("Purpose, by folder and file names: {}.\n", fmt::join(parts, ", "));
}

void add_build_switches(const CodeFacts& facts, PageRoom room, std::string& out) {
  const size_t most = room.rows(kSwitches);
  std::vector<const BuildSwitch*> switches;
  for (const BuildSwitch& found : facts.build_switches) {
    if (!is_test_or_example(facts.files[found.at.file].path)) switches.push_back(&found);
  }
  std::vector<const OptionFacts*> variables;
  for (const OptionFacts& option : facts.options) {
    if (option.kind == OptionKind::kEnvironment && builds(facts.files[option.at.file].path))
      variables.push_back(&option);
  }
  if (switches.empty() && variables.empty()) return;
  out += "\n## Build switches\n\n";
  // What decides about GPUs first; then the file nearest to the root has those that people set.
  const auto is_of_gpu = [](const BuildSwitch* s) {
    return holds_any(s->name, {"CUDA", "HIP", "ROCM", "GPU", "NCCL", "ARCH", "SYCL", "VULKAN",
                               "METAL", "MUSA", "TENSOR", "FLASH", "FP8"});
  };
  std::ranges::stable_sort(switches, {}, [&](const BuildSwitch* s) {
    return std::tuple(!is_of_gpu(s), std::ranges::count(facts.files[s->at.file].path, '/'));
  });
  if (!switches.empty()) {
    Table table("switches");
    Column &name = table.text_column("CMake option"), &value = table.text_column("default"),
           &what = table.text_column("what"), &where = table.text_column("where");
    for (size_t i = 0; i < std::min(switches.size(), most); ++i) {
      name.add(switches[i]->name);
      value.add(switches[i]->default_value);
      what.add(md_prose_cell(shortened(switches[i]->help, 70)));
      where.add(place_text(facts, switches[i]->at));
    }
    MarkdownTableStyle style{.code_columns = {"CMake option", "default", "where"},
                             .markdown_columns = {"what"}};
    style.max_characters = 60;
    out += md_table(table, style);
    if (switches.size() > most)
      out += fmt::format("\n{} more in [scan.json](scan.json), `build_switches`.\n",
                         number_text(switches.size() - most));
  }
  if (variables.empty()) return;
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(variables.size(), kBuildVariables); ++i)
    names.push_back(md_code(variables[i]->name));
  if (variables.size() > kBuildVariables)
    names.push_back(fmt::format("{} more", variables.size() - kBuildVariables));
  out += fmt::format("{}Environment of the build: {}.\n", switches.empty() ? "" : "\n",
                     fmt::join(names, ", "));
}

void add_dispatch(const CodeFacts& facts, PageRoom room, std::string& out) {
  const size_t most = room.rows(kDispatchers);
  const size_t most_choices = room.rows(kChoices);
  struct Choice {
    std::vector<std::string> conditions;
    std::string kernel, arguments;
    CodePlace at;
  };
  std::map<std::pair<uint32_t, std::string>, std::vector<Choice>> functions;
  for (const KernelFacts& kernel : facts.kernels) {
    for (const KernelLauncher& l : kernel.launchers) {
      if (l.conditions.empty() || l.function.empty() || l.certainty == Certainty::kUnsure) continue;
      if (is_aside(facts.files[l.at.file])) continue;
      functions[{l.at.file, l.function}].push_back(
          {l.conditions, kernel.name, l.template_arguments, l.at});
    }
  }
  using Function = std::pair<const std::pair<uint32_t, std::string>, std::vector<Choice>>;
  std::vector<Function*> chosen;
  for (Function& function : functions) {
    std::vector<Choice>& choices = function.second;
    std::ranges::sort(choices, {}, [](const Choice& c) {
      return std::tie(c.at, c.kernel, c.arguments, c.conditions);
    });
    const auto again = std::ranges::unique(choices, [](const Choice& a, const Choice& b) {
      return std::tie(a.conditions, a.kernel, a.arguments) ==
             std::tie(b.conditions, b.kernel, b.arguments);
    });
    choices.erase(again.begin(), again.end());
    std::set<std::vector<std::string>> conditions;
    std::set<std::pair<std::string_view, std::string_view>> kernels;
    for (const Choice& choice : choices) {
      conditions.insert(choice.conditions);
      kernels.emplace(choice.kernel, choice.arguments);
    }
    // It chooses where what holds differs, and what is launched too.
    if (conditions.size() > 1 && kernels.size() > 1) chosen.push_back(&function);
  }
  if (chosen.empty()) return;
  // Those whose conditions differ most.
  std::ranges::stable_sort(chosen, std::greater(), [](const Function* f) {
    std::set<std::vector<std::string>> conditions;
    for (const Choice& choice : f->second) conditions.insert(choice.conditions);
    return conditions.size();
  });
  out += fmt::format("\n## Dispatch\n\n{} between kernels by conditions in the code{}.\n",
                     chosen.size() == 1 ? std::string("1 host function chooses")
                                        : number_text(chosen.size()) + " host functions choose",
                     chosen.size() > most ? "; those with most choices" : "");
  for (size_t i = 0; i < std::min(chosen.size(), most); ++i) {
    const std::vector<Choice>& choices = chosen[i]->second;
    // What holds for all of them chooses nothing.
    std::vector<std::string> shared = choices[0].conditions;
    for (const Choice& choice : choices)
      std::erase_if(shared,
                    [&](const std::string& text) { return !contains(choice.conditions, text); });
    out += fmt::format(
        "\n{} ({}){}:\n\n", md_code(shortened(chosen[i]->first.second, 60)),
        md_code(place_text(facts, choices[0].at)),
        shared.empty()
            ? ""
            : ", where " + md_code(shortened(fmt::format("{}", fmt::join(shared, " and ")), 120)));
    Table table("dispatch");
    Column &condition = table.text_column("where"), &kernel = table.text_column("kernel"),
           &arguments = table.text_column("template arguments");
    // What holds and the kernel are one row, with all template arguments.
    std::vector<std::pair<const Choice*, std::vector<std::string_view>>> rows;
    for (const Choice& choice : choices) {
      const auto same = std::ranges::find_if(rows, [&](const auto& row) {
        return row.first->conditions == choice.conditions && row.first->kernel == choice.kernel;
      });
      if (same == rows.end())
        rows.emplace_back(&choice, std::vector<std::string_view>{choice.arguments});
      else
        same->second.push_back(choice.arguments);
    }
    for (size_t j = 0; j < std::min(rows.size(), most_choices); ++j) {
      std::vector<std::string> own = rows[j].first->conditions;
      std::erase_if(own, [&](const std::string& text) { return contains(shared, text); });
      condition.add(own.empty() ? "otherwise" : fmt::format("{}", fmt::join(own, " and ")));
      kernel.add(rows[j].first->kernel);
      std::string text(rows[j].second[0]);
      if (rows[j].second.size() > 1) text += fmt::format(" and {} more", rows[j].second.size() - 1);
      arguments.add(text);
    }
    MarkdownTableStyle style{.code_columns = {"where", "kernel", "template arguments"},
                             .markdown_columns = {}};
    style.max_characters = 90;
    out += md_table(table, style);
    if (rows.size() > most_choices) out += fmt::format("\n{} more.\n", rows.size() - most_choices);
  }
}

void add_api_matrix(const CodeFacts& facts, PageRoom room, std::string& out) {
  const size_t most = room.rows(kApiRows);
  // The outermost function known above each kernel, the product's own only.
  struct Row {
    CodePlace at;
    std::set<std::string> kernels;
  };
  std::map<std::string, Row> rows;
  for (const KernelFacts& kernel : facts.kernels) {
    if (kernel.path.empty() || kernel.path.front().kind != PathHopKind::kPython) continue;
    const PathHop& top = kernel.path.front();
    if (is_aside(facts.files[top.at.file]) || top.certainty == Certainty::kUnsure) continue;
    Row& row = rows[top.name];
    row.at = top.at;
    row.kernels.insert(kernel.name);
  }
  if (rows.size() < 2) return;
  std::vector<std::pair<std::string, const Row*>> sorted;
  for (const auto& [name, row] : rows) sorted.emplace_back(name, &row);
  std::ranges::stable_sort(sorted, std::greater(),
                           [](const auto& row) { return row.second->kernels.size(); });
  out += "\n## API and kernels\n\n";
  Table table("api");
  Column &function = table.text_column("function"), &where = table.text_column("where"),
         &kernels = table.text_column("kernels");
  for (size_t i = 0; i < std::min(sorted.size(), most); ++i) {
    function.add(sorted[i].first);
    where.add(place_text(facts, sorted[i].second->at));
    std::vector<std::string> names;
    for (const std::string& kernel : sorted[i].second->kernels) {
      if (names.size() < kKernelsOfRow) names.push_back(md_code_cell(shortened(kernel, 40)));
    }
    const size_t all = sorted[i].second->kernels.size();
    if (all > kKernelsOfRow) names.push_back(fmt::format("{} more", all - kKernelsOfRow));
    kernels.add(fmt::format("{}", fmt::join(names, ", ")));
  }
  out += md_table(table, {.code_columns = {"function", "where"}, .markdown_columns = {"kernels"}});
  if (sorted.size() > most)
    out += fmt::format("\n{} more, each on its kernel's page.\n",
                       counted(sorted.size() - most, "function", "functions"));
}

}  // namespace fathom
