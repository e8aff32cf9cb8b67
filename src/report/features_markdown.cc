#include "report/features_markdown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "base/units.h"
#include "report/claims_report.h"
#include "report/markdown.h"
#include "scan/fact_names.h"

namespace fathom {
namespace {

// Of the overview, which is to stay within two pages; everything is in the sections below it.
constexpr size_t kFeaturesMapped = 20, kOptionsListed = 16, kChecksOfLevel = 8,
                 kFeaturesOfCheck = 4;
constexpr size_t kOptionsOfFeature = 12, kKernelsOfFeature = 8;

std::string number(size_t value) { return with_thousands(static_cast<int64_t>(value)); }

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

// How GitHub names the heading that it makes of a title.
std::string anchor(std::string_view title) {
  std::string out;
  for (const char c : title) {
    if (c >= 'A' && c <= 'Z') out += static_cast<char>(c + 32);
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_') out += c;
    if (c == ' ') out += '-';
  }
  return out;
}

std::string link_to(const FeatureFacts& feature) {
  return fmt::format("[{}](#{})", feature.title, anchor(feature.title));
}

std::string certainty_mark(Certainty certainty) {
  return certainty == Certainty::kCertain ? "" : fmt::format(" ({})", certainty_name(certainty));
}

std::string place_code(const CodeFacts& facts, const CodePlace& at) {
  return md_code(place_text(facts, at));
}

std::string row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string header(const std::vector<std::string>& names) {
  return row(names) + row(std::vector<std::string>(names.size(), ":--"));
}

std::string metric_titles(const FeatureFacts& feature) {
  std::vector<std::string> titles;
  for (const MetricFacts& metric : feature.metrics) titles.push_back(metric.title);
  return fmt::format("{}", fmt::join(titles, "; "));
}

void add_inventory(const CodeFacts& facts, std::string& out) {
  std::map<std::string_view, std::vector<std::string>> areas;
  for (const FeatureFacts& feature : facts.features) {
    areas[feature.area].push_back(link_to(feature) + certainty_mark(feature.certainty));
  }
  out += "\n## Inventory\n\n";
  for (const auto& [area, features] : areas) {
    out += fmt::format("- **{}**: {}\n", capitalised(std::string(area)), fmt::join(features, ", "));
  }
}

void add_map(const CodeFacts& facts, std::string& out) {
  out += "\n## Feature, hardware concern, what to measure\n\n";
  out += header({"feature", "hardware concern", "what to measure", "shown by"});
  const size_t shown = std::min(facts.features.size(), kFeaturesMapped);
  for (size_t i = 0; i < shown; ++i) {
    const FeatureFacts& feature = facts.features[i];
    const std::string place =
        feature.evidence.empty() ? "" : md_code_cell(place_text(facts, feature.evidence[0].at));
    out += row({link_to(feature) + certainty_mark(feature.certainty), feature.concern,
                metric_titles(feature),
                feature.files > 1 ? fmt::format("{} and {} more", place, number(feature.files - 1))
                                  : place});
  }
  if (shown < facts.features.size()) {
    out += fmt::format("\nThe other {} are below.\n", number(facts.features.size() - shown));
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
      if (std::ranges::find(name.options, option) == name.options.end()) {
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

void add_options(const CodeFacts& facts, std::string& out) {
  const auto options = options_by_name(facts);
  if (options.empty()) return;
  out += "\n## Options that affect them\n\n" + header({"option", "default", "where", "features"});
  for (size_t i = 0; i < std::min(options.size(), kOptionsListed); ++i) {
    const OptionName& name = options[i].second;
    const OptionFacts& option = facts.options[name.options[0]];
    const std::string place = md_code_cell(place_text(facts, option.at));
    out += row({md_code_cell(option.name), md_code_cell(default_text(option)),
                name.options.size() > 1
                    ? fmt::format("{} and {} more", place, number(name.options.size() - 1))
                    : place,
                titles_of(name.features)});
  }
  if (options.size() > kOptionsListed) {
    out += fmt::format("\n{} more are with their features below.\n",
                       number(options.size() - kOptionsListed));
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
    out += row({metric.title, nvidia, counters(metric.amd), metric.how});
  }
}

void add_feature_options(const CodeFacts& facts, const FeatureFacts& feature, std::string& out) {
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
    out += fmt::format("- {} more in scan.json\n", number(feature.options.size() - shown));
  }
}

std::string more_files(uint32_t files) {
  if (files < 2) return {};
  return fmt::format(" and in {} more file{}", number(files - 1), files == 2 ? "" : "s");
}

void add_feature(const CodeFacts& facts, const FeatureFacts& feature, std::string& out) {
  out += fmt::format("\n### {}\n\n{} {}.\n\nShown by{}:\n\n", feature.title, feature.implication,
                     "Concern: " + feature.concern, certainty_mark(feature.certainty));
  for (const RuleEvidence& evidence : feature.evidence) {
    out += fmt::format("- {} at {}{}\n", md_code(evidence.what), place_code(facts, evidence.at),
                       more_files(evidence.files));
  }
  if (!feature.kernels.empty()) {
    std::vector<std::string> kernels;
    const size_t shown = std::min(feature.kernels.size(), kKernelsOfFeature);
    for (size_t i = 0; i < shown; ++i) {
      kernels.push_back(md_code(facts.kernels[feature.kernels[i]].name));
    }
    if (shown < feature.kernels.size()) {
      kernels.push_back(fmt::format("{} more", number(feature.kernels.size() - shown)));
    }
    out += fmt::format("\nKernels: {}\n", fmt::join(kernels, ", "));
  }
  add_feature_options(facts, feature, out);
  add_metrics(feature, out);
}

}  // namespace

std::string features_markdown(const CodeFacts& facts) {
  std::string out = fmt::format("# Features of {}\n\n", md_text(facts.repository));
  if (facts.features.empty()) {
    return out +
           "No rule found evidence in the code. Prose, comments, tests and vendored code do not "
           "count.\n" +
           claims_markdown(facts);
  }
  out += fmt::format(
      "{} recognised in the code by what it defines, calls, imports and launches; prose, comments, "
      "strings, tests, benchmarks and vendored code do not count. Where the evidence is just "
      "enough it "
      "says *likely*. The code shows that a feature is there, not that a run uses it, and nothing "
      "here "
      "is measured.\n",
      facts.features.size() == 1 ? "One feature" : number(facts.features.size()) + " features");
  add_inventory(facts, out);
  add_map(facts, out);
  out += claims_markdown(facts);
  add_options(facts, out);
  add_checklist(facts, out);
  out += "\n## Each feature\n";
  for (const FeatureFacts& feature : facts.features) add_feature(facts, feature, out);
  return out;
}

std::string components_table(const CodeFacts& facts) {
  if (facts.components.empty()) return {};
  std::string out = header({"component", "what it does", "where", "files", "kernels", "shown by"});
  for (const ComponentFacts& component : facts.components) {
    std::vector<std::string> where;
    for (size_t i = 0; i < std::min<size_t>(component.folders.size(), 3); ++i) {
      where.push_back(md_code_cell(component.folders[i]));
    }
    if (where.empty() && !component.files.empty()) {
      where.push_back(md_code_cell(facts.files[component.files[0]].path));
    }
    if (component.folders.size() > 3) {
      where.push_back(fmt::format("{} more", component.folders.size() - 3));
    }
    const RuleEvidence* evidence = component.evidence.empty() ? nullptr : &component.evidence[0];
    out += row({component.title + certainty_mark(component.certainty), component.purpose,
                fmt::format("{}", fmt::join(where, "<br>")), number(component.files.size()),
                number(component.kernels.size()),
                evidence == nullptr ? "" : md_code_cell(place_text(facts, evidence->at))});
  }
  return out;
}

}  // namespace fathom
