#include "report/scan/story_markdown.h"

#include <fmt/format.h>

#include "report/markdown.h"
#include "scan/facts/code_names.h"
#include "scan/facts/fact_names.h"

namespace fathom {
namespace {

std::string place(const CodeFacts& facts, const CodePlace& at, uint32_t line_last,
                  std::optional<uint32_t> file) {
  if (at.line == 0) return "";
  std::string text = place_text(facts, at);
  if (file == at.file) text = fmt::format("{}:{}", file_name(facts.files[at.file].path), at.line);
  if (line_last > at.line) text += fmt::format("-{}", line_last);
  return md_code(text);
}

void add_word(std::string& out, const std::string& word) {
  if (word.empty()) return;
  if (!out.empty()) out += ' ';
  out += word;
}

std::string certainty_text(Certainty certainty) {
  return certainty == Certainty::kCertain ? "" : fmt::format("({})", certainty_name(certainty));
}

std::string remark_text(const CodeFacts& facts, const StepRemark& remark,
                        std::optional<uint32_t> file, const WordTable& words) {
  std::string out = words.text(remark.words);
  // "accumulates:" announces code.
  if (remark.code.empty() && remark.value.empty() && out.ends_with(':')) out.pop_back();
  if (!remark.code.empty()) add_word(out, md_code(remark.code));
  if (!remark.value.empty()) add_word(out, "= " + remark.value);
  if (remark.derived) add_word(out, "(derived)");
  add_word(out, place(facts, remark.at, 0, file));
  add_word(out, certainty_text(remark.certainty));
  return out;
}

// Where a loop or branch ends is seen by what is inside; only steps without one say it.
uint32_t shown_last(const StoryStep& step) { return step.inside.empty() ? step.line_last : 0; }

// The file whose name is enough for what stands inside: the step's own, or the one that a remark
// has just named.
std::optional<uint32_t> file_inside(const StoryStep& step, std::optional<uint32_t> file) {
  if (step.inside.empty()) return file;
  const uint32_t inner = step.inside.front().at.file;
  for (const StepRemark& remark : step.remarks) {
    if (remark.at.line != 0 && remark.at.file == inner) return inner;
  }
  return step.at.line == 0 ? file : std::optional(step.at.file);
}

void add_list(const CodeFacts& facts, const std::vector<StoryStep>& steps,
              std::optional<uint32_t> file, size_t indent, const WordTable& words,
              std::string& out) {
  size_t number = 0;
  for (const StoryStep& step : steps) {
    out += fmt::format("{}{}. {}\n", std::string(indent, ' '), ++number,
                       story_line(facts, step, file, words));
    add_list(facts, step.inside, file_inside(step, file), indent + 3, words, out);
  }
}

}  // namespace

std::string story_line(const CodeFacts& facts, const StoryStep& step, std::optional<uint32_t> file,
                       const WordTable& words) {
  std::string out = words.text(step.words);
  for (size_t i = 0; i < step.code.size(); ++i) {
    if (i > 0) out += ',';
    add_word(out, md_code(step.code[i]));
  }
  add_word(out, place(facts, step.at, shown_last(step), file));
  add_word(out, certainty_text(step.certainty));
  // What is said beside it may name lines of the file that the step stands in.
  const std::optional<uint32_t> own = step.at.line == 0 ? file : std::optional(step.at.file);
  for (const StepRemark& remark : step.remarks)
    out += ", " + remark_text(facts, remark, own, words);
  return out;
}

std::string story_list(const CodeFacts& facts, const std::vector<StoryStep>& steps,
                       std::optional<uint32_t> file, const WordTable& words) {
  std::string out;
  add_list(facts, steps, file, 0, words, out);
  return out;
}

}  // namespace fathom
