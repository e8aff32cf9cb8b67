#include <fmt/format.h>

#include <map>

#include "base/count_text.h"
#include "report/markdown.h"
#include "report/scan/expected_measured_text.h"
#include "report/scan/kernel_tables.h"
#include "report/scan/scan_counts.h"
#include "report/scan/scan_report.h"
#include "scan/facts/fact_names.h"

namespace fathom {
namespace {

// On the top page of many.
constexpr size_t kExpectedKernels = 30, kDead = 20;
// In the section of a kernel.
constexpr size_t kMeasuredLaunches = 5;
// A page of kernels/ larger than this is divided.
constexpr size_t kKernelPageBytes = 200'000;
// Of one file, which is never divided: beyond this many kernels, or so much text about them, the
// others are in scan.json alone.
constexpr size_t kKernelsOfFile = 400, kFileBytes = 500'000;

std::string heading(const CodeFacts& facts) {
  std::string out = fmt::format("# Kernels: {}\n\n", md_text(facts.repository));
  if (facts.kernels.empty()) return out + "No GPU kernel found.\n";
  const size_t files = count_kernel_files(facts).size(), dead = count_dead(facts),
               unlaunched = count_without_launcher(facts);
  out += fmt::format("{} in {}", counted(facts.kernels.size(), "kernel", "kernels"),
                     counted(files, "file", "files"));
  if (dead > 0) out += fmt::format("; {} dead", number_text(dead));
  if (unlaunched > 0) {
    out += fmt::format("; {} without a launch site", number_text(unlaunched));
  }
  return out +
         ".\nExpressions are quoted from the code. Each statement cites its source line. All "
         "facts: "
         "[scan.json](scan.json).\n";
}

class KernelReport {
 public:
  KernelReport(const CodeFacts& facts, const Stories& stories,
               const std::vector<MeasuredRun>& measured)
      : facts_(facts),
        stories_(stories),
        is_measured_(!measured.empty()),
        measured_(facts.kernels.size()),
        anchors_(facts.kernels.size()) {
    out_.links.resize(facts.kernels.size());
    add_measured(measured);
  }

  KernelPages run() {
    group_by_file();
    if (facts_.kernels.size() <= kKernelsOnOnePage) {
      one_page();
    } else {
      many_pages();
    }
    return std::move(out_);
  }

 private:
  // Of each kernel the launches with the most time; the others are counted.
  void add_measured(const std::vector<MeasuredRun>& runs) {
    std::vector<size_t> launches(facts_.kernels.size());
    for (const MeasuredRun& run : runs) {
      for (const ComparedKernel& one : run.compared) {
        if (++launches[one.kernel] <= kMeasuredLaunches)
          measured_[one.kernel] += measured_part(run, one);
      }
      for (const MeasuredRun::Sampled& sampled : run.sampled)
        if (launches[sampled.kernel] <= kMeasuredLaunches)
          measured_[sampled.kernel] += hot_lines_text(sampled);
    }
    for (size_t i = 0; i < launches.size(); ++i) {
      if (launches[i] > kMeasuredLaunches) {
        measured_[i] += fmt::format(
            "\n{} more in expected_vs_measured.csv.\n",
            counted(launches[i] - kMeasuredLaunches, "measured launch", "measured launches"));
      }
      if (is_measured_ && measured_[i].empty() && !facts_.kernels[i].dead)
        measured_[i] = "\n**Measured**: no counters of this kernel were given.\n";
    }
  }

  // The kernels of one file, and the text of those that are told.
  struct FilePart {
    std::string path;
    std::vector<uint32_t> kernels;
    std::vector<std::string> sections;
    size_t bytes = 0;

    std::vector<uint32_t> told() const {
      return {kernels.begin(), kernels.begin() + static_cast<ptrdiff_t>(sections.size())};
    }
  };

  void group_by_file() {
    const char* root = facts_.kernels.size() <= kKernelsOnOnePage ? "" : "../";
    std::optional<uint32_t> file;
    for (uint32_t i = 0; i < facts_.kernels.size(); ++i) {
      const KernelFacts& k = facts_.kernels[i];
      if (file != k.at.file) parts_.push_back({facts_.files[k.at.file].path, {}, {}, 0});
      file = k.at.file;
      FilePart& part = parts_.back();
      part.kernels.push_back(i);
      if (part.sections.size() >= kKernelsOfFile || part.bytes > kFileBytes) continue;
      // One without a section ends those that have one.
      if (part.sections.size() + 1 < part.kernels.size()) continue;
      part.sections.push_back(
          kernel_section(facts_, k, stories_.kernels[i], stories_, root, measured_[i]));
      part.bytes += part.sections.back().size();
    }
  }

  static std::string file_heading(const FilePart& part) {
    return fmt::format("\n## {}\n", md_code(part.path));
  }

  // Anchors depend on every heading above them: the page's own first.
  void number_headings(HeadingAnchors& names, const FilePart& part, const std::string& page) {
    const std::string anchor = names.add(file_heading(part));
    if (page == "kernels.md") out_.groups.push_back({part.path, page + "#" + anchor, part.kernels});
    for (size_t i = 0; i < part.kernels.size(); ++i) {
      const bool told = i < part.sections.size();
      anchors_[part.kernels[i]] = told ? names.add(part.sections[i]) : anchor;
      out_.links[part.kernels[i]] = page + "#" + anchors_[part.kernels[i]];
    }
  }

  std::string text_of(const FilePart& part) const {
    std::string out = file_heading(part);
    for (const std::string& section : part.sections) out += section;
    if (part.sections.size() < part.kernels.size()) {
      out += fmt::format("\n{} more of this file: scan.json, `kernels`.\n",
                         counted(part.kernels.size() - part.sections.size(), "kernel", "kernels"));
    }
    return out;
  }

  std::string host_text() const {
    if (facts_.host_functions.empty()) return {};
    std::string out = "\n## Host functions on the call path\n";
    size_t told = 0;
    for (const HostFacts& h : facts_.host_functions) {
      if (told >= kKernelsOfFile || out.size() > kFileBytes) break;
      out += host_section(facts_, h, stories_.host_functions[told]);
      ++told;
    }
    if (told < facts_.host_functions.size()) {
      out += fmt::format("\n{} more: scan.json, `host_functions`.\n",
                         counted(facts_.host_functions.size() - told, "function", "functions"));
    }
    return out;
  }

  void one_page() {
    // What stands above the sections has these headings, whether or not it has something to say.
    HeadingAnchors names;
    std::vector<uint32_t> all;  // those of few kernels are all told
    for (uint32_t i = 0; i < facts_.kernels.size(); ++i) all.push_back(i);
    std::string text = heading(facts_);
    if (!all.empty()) {
      add_kernel_kinds(facts_, text);
      add_kernel_things(facts_, text);
      names.add(text + "## Overview\n" + expected_heading() + dead_heading());
      for (const FilePart& part : parts_) number_headings(names, part, "kernels.md");
      text += "\n## Overview\n";
      add_kernel_table(facts_, all, anchors_, text);
      std::vector<std::string> links;
      for (const std::string& anchor : anchors_) links.push_back("#" + anchor);
      add_expected_table(facts_, stories_, expected_rows(facts_, stories_), links, text);
      add_dead_kernels(facts_, SIZE_MAX, text);
      for (const FilePart& part : parts_) text += text_of(part);
    }
    text += host_text();
    if (!all.empty() && !is_measured_) add_profiling_checklist(text);
    out_.pages.push_back({"kernels.md", std::move(text)});
  }

  // Only what is needed to number headings: names that kernels could have too.
  std::string expected_heading() const {
    std::string text;
    std::vector<std::string> links(facts_.kernels.size());
    add_expected_table(facts_, stories_, expected_rows(facts_, stories_), links, text);
    return text;
  }
  std::string dead_heading() const {
    std::string text;
    add_dead_kernels(facts_, 0, text);
    return text;
  }

  void many_pages() {
    out_.pages.emplace_back();
    PageNames names;
    std::vector<FileSection> sections;
    for (const FilePart& part : parts_) sections.push_back({part.path, part.bytes});
    const std::vector<ExpectedRow> expected = expected_rows(facts_, stories_);
    for (const ExpectedRow& row : expected) expected_of_.emplace(row.kernel, &row);
    on_page_.resize(facts_.kernels.size());
    for (const FolderPage& page : pages_by_folder(sections, kKernelPageBytes)) {
      folder_page(page, "kernels/" + names.add(page.title));
    }
    if (const std::string host = host_text(); !host.empty()) {
      host_page_ = "kernels/" + names.add("host_functions");
      out_.pages.push_back({host_page_, fmt::format("# Host functions of {}\n\nBack to "
                                                    "[kernels.md](../kernels.md).\n{}",
                                                    md_text(facts_.repository), host)});
    }
    out_.pages[0] = {"kernels.md", top_page(expected)};
  }

  void folder_page(const FolderPage& page, const std::string& path) {
    KernelGroup group{page.title, path, {}};
    std::vector<uint32_t> told;
    std::vector<ExpectedRow> rows;
    for (const size_t i : page.sections) {
      group.kernels.insert(group.kernels.end(), parts_[i].kernels.begin(), parts_[i].kernels.end());
      for (const uint32_t kernel : parts_[i].told()) {
        told.push_back(kernel);
        const auto [first, last] = expected_of_.equal_range(kernel);
        for (auto row = first; row != last; ++row) rows.push_back(*row->second);
      }
    }
    std::string text = fmt::format(
        "# Kernels in {}\n\n{} in {}. All kernels of {}: "
        "[kernels.md](../kernels.md).\n",
        md_code(page.title), counted(group.kernels.size(), "kernel", "kernels"),
        counted(page.sections.size(), "file", "files"), md_text(facts_.repository));
    HeadingAnchors names;
    std::string above;
    add_expected_table(facts_, stories_, rows, out_.links, above);
    names.add(text + above);
    for (const size_t i : page.sections) number_headings(names, parts_[i], path);
    add_kernel_table(facts_, told, anchors_, text);
    for (const uint32_t i : told) on_page_[i] = "#" + anchors_[i];
    add_expected_table(facts_, stories_, rows, on_page_, text);
    for (const size_t i : page.sections) text += text_of(parts_[i]);
    out_.groups.push_back(std::move(group));
    out_.pages.push_back({path, std::move(text)});
  }

  std::string top_page(const std::vector<ExpectedRow>& expected) const {
    std::string text = heading(facts_);
    add_kernel_kinds(facts_, text);
    add_kernel_things(facts_, text);
    add_kernel_folders(facts_, out_.groups, text);
    add_foremost_kernels(facts_, out_.links, text);
    // Of many, those that the parameters say something of.
    std::vector<ExpectedRow> known;
    for (const ExpectedRow& row : expected) {
      if (row.known && known.size() < kExpectedKernels) known.push_back(row);
    }
    add_expected_table(facts_, stories_, known, out_.links, text);
    add_dead_kernels(facts_, kDead, text);
    if (!host_page_.empty()) {
      text += fmt::format("\n## Host functions\n\n{} on the call path to kernels: [{}]({}).\n",
                          counted(facts_.host_functions.size(), "function", "functions"),
                          host_page_, host_page_);
    }
    if (!is_measured_) add_profiling_checklist(text);
    return text;
  }

  const CodeFacts& facts_;
  const Stories& stories_;
  bool is_measured_;
  std::vector<std::string> measured_;  // of each kernel, markdown
  std::vector<FilePart> parts_;
  std::vector<std::string> anchors_;                         // of each kernel, on its page
  std::multimap<uint32_t, const ExpectedRow*> expected_of_;  // by kernel
  std::vector<std::string> on_page_;                         // links from the page of a kernel
  std::string host_page_;
  KernelPages out_;
};

}  // namespace

KernelPages kernel_pages(const CodeFacts& facts, const Stories& stories,
                         const std::vector<MeasuredRun>& measured) {
  return KernelReport(facts, stories, measured).run();
}

}  // namespace fathom
