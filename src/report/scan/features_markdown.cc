#include "report/scan/features_markdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/ascii.h"
#include "base/count_text.h"
#include "base/text_parts.h"
#include "report/markdown.h"
#include "report/scan/claims_report.h"
#include "scan/facts/fact_names.h"

namespace fathom {
namespace {

// Of the overview, which is to stay within five pages; everything is in the sections.
constexpr size_t kFeaturesMapped = 20, kOptionsListed = 12, kChecksOfLevel = 8,
                 kFeaturesOfCheck = 4;
constexpr size_t kFeaturesOnOnePage = 12, kOptionsOfFeature = 12, kKernelsOfFeature = 8;

// Where each feature is told of, as the page that is being written must say it.
using Links = std::vector<std::string>;

std::string link_to(const CodeFacts& facts, const Links& links, const FeatureFacts& feature) {
  const auto at = static_cast<size_t>(&feature - facts.features.data());
  return fmt::format("[{}]({})", feature.title, links[at]);
}

std::string certainty_mark(Certainty certainty) {
  return certainty == Certainty::kCertain ? "" : fmt::format(" ({})", certainty_name(certainty));
}

std::string place_code(const CodeFacts& facts, const CodePlace& at) {
  return md_code(place_text(facts, at));
}

std::string header(const std::vector<std::string>& names) {
  return md_row(names) + md_row(std::vector<std::string>(names.size(), ":--"));
}

std::string metric_titles(const FeatureFacts& feature) {
  std::vector<std::string> titles;
  for (const MetricFacts& metric : feature.metrics) titles.push_back(metric.title);
  return fmt::format("{}", fmt::join(titles, "; "));
}

// The areas in the order of their names, each with its features.
std::map<std::string_view, std::vector<size_t>> by_area(const CodeFacts& facts) {
  std::map<std::string_view, std::vector<size_t>> areas;
  for (size_t i = 0; i < facts.features.size(); ++i) areas[facts.features[i].area].push_back(i);
  return areas;
}

void add_inventory(const CodeFacts& facts, const Links& links, const FeaturePages& written,
                   std::string& out) {
  out += "\n## Inventory\n\n";
  size_t page = 0;
  for (const auto& [area, members] : by_area(facts)) {
    std::vector<std::string> features;
    for (const size_t i : members) {
      features.push_back(link_to(facts, links, facts.features[i]) +
                         certainty_mark(facts.features[i].certainty));
    }
    std::string title = capitalised(std::string(area));
    if (!written.pages.empty()) title = fmt::format("[{}]({})", title, written.pages[page++].path);
    out += fmt::format("- **{}**: {}\n", title, fmt::join(features, ", "));
  }
}

void add_map(const CodeFacts& facts, const Links& links, std::string_view rest, std::string& out) {
  out += "\n## Feature, hardware concern, what to measure\n\n";
  out += header({"feature", "hardware concern", "what to measure", "evidence"});
  const size_t shown = std::min(facts.features.size(), kFeaturesMapped);
  for (size_t i = 0; i < shown; ++i) {
    const FeatureFacts& feature = facts.features[i];
    const std::string place =
        feature.evidence.empty() ? "" : md_code_cell(place_text(facts, feature.evidence[0].at));
    out += md_row({link_to(facts, links, feature) + certainty_mark(feature.certainty),
                   feature.concern, metric_titles(feature),
                   feature.files > 1
                       ? fmt::format("{} and {} more", place, number_text(feature.files - 1))
                       : place});
  }
  if (shown < facts.features.size()) {
    out +=
        fmt::format("\nThe other {} are {}.\n", number_text(facts.features.size() - shown), rest);
  }
}

std::string default_text(const OptionFacts& option) {
  return option.default_value ? *option.default_value : "";
}

// Options of one name, which several programs of a repository may have.
struct OptionName {
  std::vector<uint32_t> options;
  std::vector<const FeatureFacts*> features;
};

std::vector<std::pair<std::string_view, OptionName>> options_by_name(const CodeFacts& facts) {
  std::map<std::string_view, OptionName> names;
  for (const FeatureFacts& feature : facts.features) {
    for (const uint32_t option : feature.options) {
      OptionName& name = names[facts.options[option].name];
      if (!contains(name.options, option)) {
        name.options.push_back(option);
      }
      if (name.features.empty() || name.features.back() != &feature) {
        name.features.push_back(&feature);
      }
    }
  }
  std::vector<std::pair<std::string_view, OptionName>> sorted(names.begin(), names.end());
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) {
    return a.second.features.size() > b.second.features.size();
  });
  return sorted;
}

// Our own titles, the first few of them.
std::string titles_of(const std::vector<const FeatureFacts*>& features) {
  std::vector<std::string> titles;
  for (size_t i = 0; i < std::min(features.size(), kFeaturesOfCheck); ++i) {
    titles.push_back(features[i]->title);
  }
  const size_t more = features.size() - titles.size();
  return fmt::format("{}{}", fmt::join(titles, "; "),
                     more == 0 ? "" : fmt::format("; {} more", more));
}

void add_options(const CodeFacts& facts, std::string_view rest, std::string& out) {
  const auto options = options_by_name(facts);
  if (options.empty()) return;
  out += "\n## Options that affect them\n\n" + header({"option", "default", "where", "features"});
  for (size_t i = 0; i < std::min(options.size(), kOptionsListed); ++i) {
    const OptionName& name = options[i].second;
    const OptionFacts& option = facts.options[name.options[0]];
    const std::string place = md_code_cell(place_text(facts, option.at));
    out += md_row({md_code_cell(option.name), md_code_cell(default_text(option)),
                   name.options.size() > 1
                       ? fmt::format("{} and {} more", place, number_text(name.options.size() - 1))
                       : place,
                   titles_of(name.features)});
  }
  if (options.size() > kOptionsListed) {
    const size_t more = options.size() - kOptionsListed;
    out += fmt::format("\n{} more {} with their features {}.\n", number_text(more),
                       noun(more, "is", "are"), rest);
  }
}

struct Check {
  const MetricFacts* metric;
  std::vector<const FeatureFacts*> features;
};

std::vector<Check> checks_of(const CodeFacts& facts, std::string_view level) {
  std::vector<Check> checks;
  for (const FeatureFacts& feature : facts.features) {
    for (const MetricFacts& metric : feature.metrics) {
      if (metric.level != level) continue;
      const auto found = std::ranges::find_if(
          checks, [&](const Check& check) { return check.metric->id == metric.id; });
      if (found == checks.end()) {
        checks.push_back({&metric, {&feature}});
      } else {
        found->features.push_back(&feature);
      }
    }
  }
  std::ranges::stable_sort(
      checks, [](const Check& a, const Check& b) { return a.features.size() > b.features.size(); });
  return checks;
}

std::string counters_text(const std::vector<std::string>& names) {
  std::vector<std::string> codes;
  for (const std::string& name : names) codes.push_back(md_code(name));
  return fmt::format("{}", fmt::join(codes, ", "));
}

std::string check_line(const Check& check) {
  std::string line = "- [ ] " + capitalised(check.metric->title);
  if (!check.metric->nvidia.empty()) line += ": " + counters_text(check.metric->nvidia);
  return fmt::format("{} – {}\n", line, titles_of(check.features));
}

void add_checklist(const CodeFacts& facts, std::string& out) {
  out += "\n## Checklist\n";
  struct Level {
    std::string_view id, title;
  };
  for (const Level& level : {Level{"application", "From the program itself"},
                             Level{"process", "From a trace (`fathom analyze`)"},
                             Level{"hardware", "From counters of the kernels"}}) {
    const std::vector<Check> checks = checks_of(facts, level.id);
    if (checks.empty()) continue;
    out += fmt::format("\n{}:\n\n", level.title);
    for (size_t i = 0; i < std::min(checks.size(), kChecksOfLevel); ++i) {
      out += check_line(checks[i]);
    }
  }
}

void add_metrics(const FeatureFacts& feature, std::string& out) {
  out += "\n" + header({"measure", "NVIDIA", "AMD", "how to read it"});
  const auto counters = [](const std::vector<std::string>& names) {
    std::vector<std::string> codes;
    for (const std::string& name : names) codes.push_back(md_code_cell(name));
    return fmt::format("{}", fmt::join(codes, "<br>"));
  };
  for (const MetricFacts& metric : feature.metrics) {
    std::string nvidia = counters(metric.nvidia);
    // All chips that the names were checked for: nothing to say.
    if (!metric.nvidia.empty() && metric.nvidia_chips.size() < 5) {
      nvidia += fmt::format("<br>only {}", fmt::join(metric.nvidia_chips, ", "));
    }
    out += md_row({metric.title, nvidia, counters(metric.amd), metric.how});
  }
}

void add_feature_options(const CodeFacts& facts, const FeatureFacts& feature, std::string_view root,
                         std::string& out) {
  if (feature.options.empty()) return;
  out += "\nOptions that affect it:\n\n";
  const size_t shown = std::min(feature.options.size(), kOptionsOfFeature);
  for (size_t i = 0; i < shown; ++i) {
    const OptionFacts& option = facts.options[feature.options[i]];
    out += fmt::format("- {}{}, {}\n", md_code(option.name),
                       option.default_value ? ", default " + md_code(*option.default_value) : "",
                       place_code(facts, option.at));
  }
  if (shown < feature.options.size()) {
    out += fmt::format("- {} more in [scan.json]({}scan.json)\n",
                       number_text(feature.options.size() - shown), root);
  }
}

std::string more_files(uint32_t files) {
  if (files < 2) return {};
  return " and in " + counted(files - 1, "more file");
}

// Kernels of the feature, linked from a page that `root` leads up from.
void add_kernels(const CodeFacts& facts, const FeatureFacts& feature, const Links& kernel_links,
                 std::string_view root, std::string& out) {
  if (feature.kernels.empty()) return;
  std::vector<std::string> kernels;
  const size_t shown = std::min(feature.kernels.size(), kKernelsOfFeature);
  for (size_t i = 0; i < shown; ++i) {
    const uint32_t kernel = feature.kernels[i];
    kernels.push_back(
        md_link(facts.kernels[kernel].name,
                kernel_links.empty() ? "" : std::string(root) + kernel_links[kernel]));
  }
  if (shown < feature.kernels.size()) {
    kernels.push_back(fmt::format("{} more", number_text(feature.kernels.size() - shown)));
  }
  out += fmt::format("\nKernels: {}\n", fmt::join(kernels, ", "));
}

std::string feature_section(const CodeFacts& facts, const FeatureFacts& feature,
                            const Links& kernel_links, std::string_view root) {
  std::string out =
      fmt::format("\n### {}\n\n{} {}.\n\nEvidence{}:\n\n", feature.title, feature.implication,
                  "Concern: " + feature.concern, certainty_mark(feature.certainty));
  for (const RuleEvidence& evidence : feature.evidence) {
    out += fmt::format("- {} at {}{}\n", md_code(evidence.what), place_code(facts, evidence.at),
                       more_files(evidence.files));
  }
  add_kernels(facts, feature, kernel_links, root, out);
  add_feature_options(facts, feature, root, out);
  add_metrics(feature, out);
  return out;
}

std::string introduction(const CodeFacts& facts) {
  const std::string title = fmt::format("# Features of {}\n\n", md_text(facts.repository));
  if (facts.features.empty()) {
    return title +
           "No feature was recognised in the code. Prose, comments, tests and vendored code do not "
           "count.\n" +
           claims_markdown(facts);
  }
  return title +
         fmt::format(
             "{} recognised from definitions, calls, imports and launches. Prose, comments, "
             "strings, tests, benchmarks and vendored code do not count. *likely* marks weak "
             "evidence. The code shows that a feature exists, not that a run uses it. Nothing "
             "here is measured.\n",
             counted(facts.features.size(), "feature", "features"));
}

std::string overview(const CodeFacts& facts, const Links& links, const FeaturePages& written) {
  const char* rest = written.pages.empty() ? "below" : "on the pages of their areas";
  std::string out;
  add_inventory(facts, links, written, out);
  add_map(facts, links, rest, out);
  out += claims_markdown(facts);
  add_options(facts, rest, out);
  add_checklist(facts, out);
  return out;
}

// Everything on features.md, as long as they are few or that stays within five pages.
std::optional<FeaturePages> on_one_page(const CodeFacts& facts, const Links& kernel_links) {
  FeaturePages out;
  Links anchors;
  HeadingAnchors names;
  std::string text = introduction(facts), sections = "\n## Each feature\n";
  // The overview's headings; what its tables say does not matter here.
  names.add(text + overview(facts, Links(facts.features.size()), out) + sections);
  for (const FeatureFacts& feature : facts.features) {
    const std::string section = feature_section(facts, feature, kernel_links, "");
    anchors.push_back("#" + names.add(section));
    out.links.push_back("features.md" + anchors.back());
    sections += section;
  }
  text += overview(facts, anchors, out) + sections;
  if (facts.features.size() > kFeaturesOnOnePage && printed_lines(text) > kFivePages)
    return std::nullopt;
  out.pages.push_back({"features.md", std::move(text)});
  return out;
}

FeaturePages on_many_pages(const CodeFacts& facts, const Links& kernel_links) {
  FeaturePages out;
  out.links.resize(facts.features.size());
  PageNames page_names;
  for (const auto& [area, members] : by_area(facts)) {
    ReportPage page{"features/" + page_names.add(area), ""};
    page.text = fmt::format(
        "# Features of {}: {}\n\n{}. All features: "
        "[features.md](../features.md).\n",
        md_text(facts.repository), area, counted(members.size(), "feature", "features"));
    HeadingAnchors names;
    names.add(page.text);
    for (const size_t i : members) {
      const std::string section = feature_section(facts, facts.features[i], kernel_links, "../");
      out.links[i] = page.path + "#" + names.add(section);
      page.text += section;
    }
    out.pages.push_back(std::move(page));
  }
  std::string text = introduction(facts) + overview(facts, out.links, out);
  out.pages.insert(out.pages.begin(), {"features.md", std::move(text)});
  return out;
}

}  // namespace

FeaturePages feature_pages(const CodeFacts& facts, const std::vector<std::string>& kernel_links) {
  if (facts.features.empty()) return {{{"features.md", introduction(facts)}}, {}};
  if (auto one = on_one_page(facts, kernel_links)) return std::move(*one);
  return on_many_pages(facts, kernel_links);
}

}  // namespace fathom
