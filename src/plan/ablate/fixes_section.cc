#include "plan/ablate/fixes_section.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plan/ablate/study_words.h"
#include "report/markdown.h"
#include "sheets/kernel_contexts.h"

namespace fathom::ablate {
namespace {

// A fence that no line of the text can end.
std::string fenced(std::string_view text, std::string_view language) {
  size_t longest = 2, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  std::string body;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    body += byte < 0x20 && c != '\n' && c != '\t' ? '?' : c;
  }
  if (!body.ends_with('\n')) body += '\n';
  return fmt::format("{}{}\n{}{}\n", fence, language, body, fence);
}

class FixesWriter {
 public:
  explicit FixesWriter(const Study& study) : study_(study), suite_(*study.suite) {}

  std::string write() {
    out_ = "\n## Fixes applied\n";
    bool any = false;
    for (const StudyRow& row : study_.rows) {
      if (row.variant->name == suite_.baseline) continue;
      if (row.state == RowState::kNotMeasured && row.variant->only_if_pairs_matter) continue;
      if (row.variant->flag_names.size() > 1) continue;  // combinations are in the table
      fix(row);
      any = true;
    }
    if (!any) line("\nNone.");
    fix_table();
    return std::move(out_);
  }

 private:
  void line(std::string_view text) { out_ += std::string(text) + "\n"; }

  void fix(const StudyRow& row) {
    const Variant& v = *row.variant;
    out_ += fmt::format("\n### {}{}\n\n", md_code(v.name),
                        v.change.empty() ? "" : ": " + md_prose(v.change));
    identified(row);
    hypothesis(row);
    implemented(row);
    validated(row);
    line(fmt::format("5. **Decision**: {}", md_prose(verdict_text(row))));
    for (const Note& note : study_.measurements->notes) {
      if (note.variant == v.name)
        line(fmt::format("   - Note, {} ({}): {}", md_prose(note.step), md_prose(note.when),
                         md_prose(note.text)));
    }
  }

  void identified(const StudyRow& row) {
    const Variant& v = *row.variant;
    const StudyRow* parent = study_.parent_of(row);
    std::string text;
    if (!v.identified.metric.empty()) {
      const Moved moved = metric_of(row, parent);
      text = fmt::format(
          "metric: {} = {}", md_prose(value_title(v.identified.metric)),
          moved.before ? hardware_value_text(v.identified.metric, *moved.before) : "not counted");
      if (v.identified.target) {
        text += fmt::format("; target: {}",
                            hardware_value_text(v.identified.metric, *v.identified.target));
        if (moved.before)
          text += "; gap: " + hardware_value_text(v.identified.metric,
                                                  std::abs(*moved.before - *v.identified.target));
      }
      text += ".";
    }
    if (!v.identified.evidence.empty())
      text += (text.empty() ? "" : " ") + md_prose(v.identified.evidence);
    if (text.empty()) text = confirmed_words(parent);
    line(fmt::format("1. **Identified**: {}", text));
  }

  Moved metric_of(const StudyRow& row, const StudyRow* parent) const {
    Moved moved;
    moved.value = row.variant->identified.metric;
    const auto side = [&](const StudyRow* one) -> std::optional<double> {
      if (one == nullptr || one->measured == nullptr || !one->measured->counters.ok)
        return std::nullopt;
      const auto found = one->measured->counters.values.find(moved.value);
      return found == one->measured->counters.values.end() ? std::nullopt
                                                           : std::optional(found->second);
    };
    moved.before = side(parent);
    moved.after = side(&row);
    return moved;
  }

  static std::string confirmed_words(const StudyRow* parent) {
    if (parent == nullptr || parent->tested.empty())
      return "not measured: the variant before it has no counters.";
    for (const TestedHypothesis& tested : parent->tested) {
      if (tested.verdict == Verdict::kConfirmed)
        return fmt::format("at {}: {} ({}).", md_code(parent->variant->name),
                           tested.hypothesis->title, hypothesis_evidence(*parent, tested));
    }
    return fmt::format("no hypothesis is confirmed at {}.", md_code(parent->variant->name));
  }

  void hypothesis(const StudyRow& row) {
    const Variant& v = *row.variant;
    if (v.hypothesis.empty()) {
      line("2. **Hypothesis**: none written down.");
      return;
    }
    std::string text = fmt::format("root cause: {}.", md_prose(hypothesis_title(v.hypothesis)));
    const StudyRow* parent = study_.parent_of(row);
    for (const TestedHypothesis& tested :
         parent != nullptr ? parent->tested : std::vector<TestedHypothesis>{}) {
      if (tested.hypothesis->id != v.hypothesis) continue;
      text +=
          fmt::format(" Evidence at {}: {} ({})", md_code(parent->variant->name),
                      fathom::verdict_text(tested.verdict), hypothesis_evidence(*parent, tested));
      const std::string gain = gain_text(tested);
      text += gain.empty() ? "." : fmt::format("; expected gain {}.", gain);
    }
    line(fmt::format("2. **Hypothesis**: {}", text));
  }

  void implemented(const StudyRow& row) {
    const std::string& diff = row.measured != nullptr ? row.measured->diff : std::string();
    if (diff.empty()) {
      line("3. **Implemented**: no difference in code was recorded.");
      return;
    }
    line("3. **Implemented** (− before, + after):\n");
    out_ += fenced(diff, "diff") + "\n";
  }

  void validated(const StudyRow& row) {
    std::string text;
    if (!row.variant->identified.metric.empty()) {
      const Moved moved = metric_of(row, study_.parent_of(row));
      text += fmt::format("re-profiled: {}. ", moved_text(moved));
    } else if (row.moved) {
      text += fmt::format("re-profiled: {}. ", moved_text(*row.moved));
    } else if (row.measured != nullptr && row.measured->counters.done &&
               !row.measured->counters.ok) {
      text += fmt::format("not re-profiled: {}. ", md_prose(row.measured->counters.reason));
    }
    if (row.over_parent[0]) {
      text += fmt::format("Speed-up over {}: {}", md_code(study_.parent_of(row)->variant->name),
                          speed_up_text(*row.over_parent[0]));
      for (size_t i = 1; i < row.over_parent.size(); ++i) {
        if (row.over_parent[i])
          text += fmt::format("{}: {}", case_words(suite_.cases[i]),
                              speed_up_text(*row.over_parent[i]));
      }
      text += ". ";
    } else {
      text += "Speed-up: none measured. ";
    }
    text += fmt::format("Correctness: {}.", correctness(row));
    line(fmt::format("4. **Validated**: {}", text));
    for (const Moved& moved : row.expected)
      line(fmt::format("   - Predicted: {}: {}", moved_text(moved),
                       !moved.as_expected   ? "not counted"
                       : *moved.as_expected ? "as predicted"
                                            : "**not as predicted**"));
    for (const Warning& warning : row.warnings)
      line(fmt::format("   - Warning: {}.", warning_text(warning)));
  }

  std::string correctness(const StudyRow& row) const {
    if (row.state == RowState::kNotBuilt) return "not built";
    if (suite_.check.empty()) return "not checked";
    if (row.measured == nullptr || !row.measured->check.done) return "not checked yet";
    const Checked& check = row.measured->check;
    if (!check.ok) return "wrong (" + md_text(check.reason) + ")";
    return check.outcome.empty() ? "right" : "right (" + md_text(check.outcome) + ")";
  }

  void fix_table() {
    std::string rows;
    for (const StudyRow& row : study_.rows) {
      if (row.state != RowState::kTimed || row.variant->name == suite_.baseline ||
          !row.over_parent[0])
        continue;
      const Moved moved = !row.variant->identified.metric.empty()
                              ? metric_of(row, study_.parent_of(row))
                          : row.moved ? *row.moved
                                      : Moved{};
      const auto side = [&](const std::optional<double>& value) {
        return value ? hardware_value_text(moved.value, *value) : std::string("not counted");
      };
      rows += md_row({md_code_cell(row.variant->name),
                      moved.value.empty() ? "none counted" : md_cell(value_title(moved.value)),
                      moved.value.empty() ? "" : side(moved.before),
                      moved.value.empty() ? "" : side(moved.after),
                      speed_up_text(*row.over_parent[0])});
    }
    if (rows.empty()) return;
    out_ += "\n| Fix | Metric | Before | After | Speed-up |\n|---|---|---|---|---|\n" + rows;
  }

  const Study& study_;
  const Suite& suite_;
  std::string out_;
};

}  // namespace

std::string fixes_section(const Study& study) { return FixesWriter(study).write(); }

}  // namespace fathom::ablate
