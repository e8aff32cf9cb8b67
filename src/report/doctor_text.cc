#include "report/doctor_text.h"

#include <fmt/format.h>

#include <set>

#include "base/screen_text.h"
#include "report/doctor_sentences.h"
#include "report/markdown.h"

namespace fathom {
namespace {

constexpr size_t kLabelWidth = 12, kPartWidth = 30, kVerdictWidth = 9;

std::string colored_verdict(CanDo verdict, bool color) {
  std::string text = fit_left(verdict_name(verdict), kVerdictWidth);
  if (!color) return text;
  const char* const code = verdict == CanDo::kYes ? "32" : verdict == CanDo::kNo ? "31" : "33";
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

std::string doctor_heading(std::string_view text, bool color) {
  return color ? fmt::format("\033[1m{}\033[0m\n", text) : fmt::format("{}\n", text);
}

// Each once: one command may mend several parts.
std::string fixes_text(const Environment& environment, const std::vector<Capability>& parts,
                       bool color) {
  std::set<Obstacle> told;
  std::string out;
  for (const Capability& one : parts) {
    for (const Obstacle obstacle : one.obstacles) {
      const std::string fix = obstacle_fix(environment, obstacle);
      if (fix.empty() || !told.insert(obstacle).second) continue;
      out += fmt::format("  {}:\n    {}\n", screen_safe(obstacle_text(environment, obstacle)),
                         screen_safe(fix));
    }
  }
  return out.empty() ? out : "\n" + doctor_heading("To fix", color) + out;
}

}  // namespace

std::string doctor_text(const Environment& environment, bool color) {
  std::string out;
  for (const EnvironmentLine& line : environment_lines(environment)) {
    std::string label = screen_safe(line.label);
    // An address on the PCI bus is longer than the column.
    if (screen_width(label) < kLabelWidth) {
      out += fit_left(label, kLabelWidth);
    } else {
      out += label += "  ";
    }
    out += screen_safe(line.value) + "\n";
  }
  out += "\n" + doctor_heading("This machine can", color);
  const std::vector<Capability> parts = capabilities(environment);
  for (const Capability& one : parts) {
    std::string line =
        "  " + fit_left(part_title(one.part), kPartWidth) + colored_verdict(one.verdict, color);
    for (size_t i = 0; i < one.obstacles.size(); ++i) {
      if (i > 0) line += "\n" + std::string(2 + kPartWidth + kVerdictWidth, ' ');
      line += screen_safe(obstacle_text(environment, one.obstacles[i]));
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out + fixes_text(environment, parts, color);
}

std::string environment_markdown(const Environment& environment) {
  std::string out = "# Environment\n\n| what | found |\n|---|---|\n";
  for (const EnvironmentLine& line : environment_lines(environment))
    out += fmt::format("| {} | {} |\n", md_cell(line.label), md_prose_cell(line.value));
  out += "\n## What works here\n\n| part | works | why not | fix |\n|---|---|---|---|\n";
  for (const Capability& one : capabilities(environment)) {
    std::string why, fixes;
    for (const Obstacle obstacle : one.obstacles) {
      why += (why.empty() ? "" : "; ") + md_prose_cell(obstacle_text(environment, obstacle));
      const std::string fix = obstacle_fix(environment, obstacle);
      if (!fix.empty()) fixes += (fixes.empty() ? "" : "; ") + md_code_cell(fix);
    }
    out += fmt::format("| {} | {} | {} | {} |\n", part_title(one.part), verdict_name(one.verdict),
                       why, fixes);
  }
  return out;
}

}  // namespace fathom
