#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/count_text.h"
#include "base/screen_text.h"
#include "base/text_parts.h"
#include "report/markdown.h"
#include "report/scan/kernel_pages.h"
#include "report/scan/kernel_purpose.h"
#include "scan/facts/fact_names.h"

namespace fathom {
namespace {

// In a section; the rest is in scan.json.
constexpr size_t kLaunchers = 6, kPlacesOfFeature = 3, kExpression = 160;

std::string code(std::string_view text) { return md_code(shortened(text, kExpression)); }

std::string unless_certain(Certainty certainty) {
  return certainty == Certainty::kCertain ? "" : fmt::format(" ({})", certainty_name(certainty));
}

void add_launchers(const CodeFacts& facts, const KernelFacts& k, std::string_view root,
                   std::string& out) {
  for (size_t i = 0; i < std::min(k.launchers.size(), kLaunchers); ++i) {
    const KernelLauncher& l = k.launchers[i];
    std::string place = place_text(facts, l.at);
    if (l.line_last > l.at.line) place += fmt::format("-{}", l.line_last);
    out += fmt::format("- **Launched** {}", md_code(place));
    if (!l.function.empty()) out += fmt::format(" in {}", code(l.function));
    if (!l.via.empty()) out += fmt::format(" via {}", code(l.via));
    const auto add = [&out](std::string_view what, std::string_view expression) {
      if (!expression.empty()) out += fmt::format("; {} {}", what, code(expression));
    };
    add("grid", l.grid);
    add("block", l.block);
    add("shared memory", l.shared_memory);
    add("stream", l.stream);
    add("template arguments", l.template_arguments);
    add("where", fmt::format("{}", fmt::join(l.conditions, " and ")));
    for (const LaunchAttribute& attribute : l.attributes)
      out += fmt::format("; {}", md_text(attribute_text(attribute)));
    out += unless_certain(l.certainty) + "\n";
  }
  if (k.launchers.size() > kLaunchers) {
    out += fmt::format("- … {} in [scan.json]({}scan.json)\n",
                       counted(k.launchers.size() - kLaunchers, "more launcher"), root);
  }
  if (k.dead) {
    out += "- **Dead**: not launched or referenced anywhere in the repository\n";
  } else if (k.launchers.empty()) {
    out += "- **Launched**: no launch site found\n";
  }
}

void add_path(const CodeFacts& facts, const std::vector<PathHop>& path, std::string& out) {
  if (path.empty()) return;
  out += "- **Path** ";
  for (size_t i = 0; i < path.size(); ++i) {
    out += fmt::format("{}{} {}{}", i == 0 ? "" : " → ", md_text(hop_text(path[i])),
                       md_code(place_text(facts, path[i].at)), unless_certain(path[i].certainty));
  }
  out += "\n";
}

void add_evidence(const CodeFacts& facts, const std::vector<CodeEvidence>& evidence,
                  std::string_view own_name, std::string& out) {
  for (const std::string& what : things_done(evidence)) {
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
    if (all > shown) out += " and " + counted(all - shown, "more place");
    out += "\n";
  }
}

}  // namespace

// What it does, each thing once, in the order of the code.
std::vector<std::string> things_done(const std::vector<CodeEvidence>& evidence) {
  std::vector<std::string> things;
  for (const CodeEvidence& e : evidence) {
    if (!contains(things, e.what)) things.push_back(e.what);
  }
  return things;
}

std::string kernel_section(const CodeFacts& facts, const KernelFacts& k, const KernelStory& told,
                           const Stories& stories, std::string_view root,
                           std::string_view measured) {
  std::string out = fmt::format("\n### {}\n\n", md_code(full_name(k)));
  out += fmt::format("- **Code** {}",
                     md_code(fmt::format("{}-{}", place_text(facts, k.at), k.line_last)));
  if (k.line_name != k.at.line) out += fmt::format(", named in line {}", k.line_name);
  out += fmt::format("; {}", md_text(kernel_kind_name(k.kind)));
  if (!k.template_parameters.empty())
    out += fmt::format("; template {}", code(k.template_parameters));
  for (const std::string& attribute : k.attributes) out += fmt::format("; {}", code(attribute));
  if (!k.condition.empty()) out += fmt::format("; where {}", code(k.condition));
  out += unless_certain(k.certainty) + "\n";
  if (const std::string purpose = kernel_purpose(facts, k); !purpose.empty())
    out += fmt::format("- **Computes** {}; derived\n", purpose);
  add_launchers(facts, k, root, out);
  add_path(facts, k.path, out);
  add_evidence(facts, k.evidence, k.name, out);
  if (!k.profiler_name.empty()) {
    out += fmt::format("- **In a profile** {}\n", code(k.profiler_name));
  }
  if (told.story.detail != StoryDetail::kNotTold) out += kernel_story(facts, k, told, stories);
  return out.append(measured);
}

std::string host_section(const CodeFacts& facts, const HostFacts& h, const HostStory& told) {
  const std::string name = h.scope.empty() ? h.name : h.scope + "::" + h.name;
  return fmt::format("\n### {}\n\n- **Code** {}{}\n{}", md_code(name),
                     md_code(fmt::format("{}-{}", place_text(facts, h.at), h.line_last)),
                     unless_certain(h.certainty), host_story(facts, h, told));
}

}  // namespace fathom
