#include "story/story_step.h"

#include <algorithm>

namespace fathom {
namespace {

// Of so many codes side by side, and no more letters than this, each is shown; of more their names.
constexpr size_t kShownCodes = 4, kShownLetters = 240, kShownNames = 8;

size_t deepest(const std::vector<StoryStep>& steps) {
  size_t depth = 0;
  for (const StoryStep& step : steps) {
    depth = std::max(depth, 1 + (step.inside.empty() ? 0 : deepest(step.inside)));
  }
  return depth;
}

// Takes out everything at `level`, counted from 1; what held it says so.
size_t cut_level(std::vector<StoryStep>& steps, size_t level, size_t& over) {
  size_t gone = 0;
  for (StoryStep& step : steps) {
    if (over == 0) break;
    if (step.inside.empty()) continue;
    if (level > 1) {
      gone += cut_level(step.inside, level - 1, over);
      continue;
    }
    const size_t inside = count_steps(step.inside);
    const Phrase left_out = inside == 1 ? Phrase::kOneStepLeftOut : Phrase::kStepsLeftOut;
    step.remarks.push_back({Words(left_out, inside), "", {}, {}});
    step.inside.clear();
    gone += inside;
    over -= std::min(over, inside);
  }
  return gone;
}

// "const auto pos = indices[i]" → "pos"; what sets no name is its own name.
std::string name_set(std::string_view code) {
  const size_t equals = code.find('=');
  if (equals == std::string_view::npos || equals == 0) return std::string(code);
  std::string_view left = code.substr(0, equals);
  while (!left.empty() && (left.back() == ' ' || std::string_view("+-*/%|&^").find(left.back()) !=
                                                     std::string_view::npos))
    left.remove_suffix(1);
  const size_t space = left.find_last_of(" *&");
  return std::string(space == std::string_view::npos ? left : left.substr(space + 1));
}

void fold_into(StoryStep& first, StoryStep& next) {
  first.code.insert(first.code.end(), std::make_move_iterator(next.code.begin()),
                    std::make_move_iterator(next.code.end()));
  first.line_last = std::max(first.line_last, next.line_last);
  first.remarks.insert(first.remarks.end(), std::make_move_iterator(next.remarks.begin()),
                       std::make_move_iterator(next.remarks.end()));
}

void show_names_of_many(StoryStep& step) {
  size_t letters = 0;
  for (const std::string& code : step.code) letters += code.size();
  if (step.code.size() <= kShownCodes && letters <= kShownLetters) return;
  if (step.code.size() == 1) return;
  std::vector<std::string> names;
  for (const std::string& code : step.code) {
    std::string name = name_set(code);
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
  }
  if (names.size() > kShownNames) {
    const size_t more = names.size() - kShownNames;
    names.resize(kShownNames);
    step.remarks.push_back({Words(Phrase::kMoreNames, more), "", {}, {}});
  }
  step.code = std::move(names);
}

}  // namespace

size_t count_steps(const std::vector<StoryStep>& steps) {
  size_t count = 0;
  for (const StoryStep& step : steps) count += 1 + count_steps(step.inside);
  return count;
}

size_t shorten(std::vector<StoryStep>& steps, size_t most) {
  size_t gone = 0;
  for (size_t level = deepest(steps); level > 1; --level) {
    const size_t count = count_steps(steps);
    if (count <= most) return gone;
    size_t over = count - most;
    gone += cut_level(steps, level - 1, over);
  }
  if (steps.size() > most) {
    gone += steps.size() - most;
    steps.resize(most);
  }
  return gone;
}

void fold_computations(std::vector<StoryStep>& steps) {
  std::vector<StoryStep> folded;
  for (StoryStep& step : steps) {
    fold_computations(step.inside);
    const bool joins = !folded.empty() && folded.back().only_computes && step.only_computes &&
                       folded.back().words == step.words && folded.back().at.file == step.at.file;
    if (joins) {
      fold_into(folded.back(), step);
    } else {
      folded.push_back(std::move(step));
    }
  }
  for (StoryStep& step : folded) {
    if (step.only_computes) show_names_of_many(step);
  }
  steps = std::move(folded);
}

std::string tidy_code(std::string text, size_t longest) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    const bool after_open = !out.empty() && (out.back() == '(' || out.back() == '[');
    if (c == ' ' && (after_open || next == ')' || next == ']' || next == ',')) continue;
    out += c;
  }
  if (out.size() <= longest) return out;
  size_t end = longest;
  while (end > 0 && (out[end] & 0xC0) == 0x80) --end;
  return out.substr(0, end) + "…";
}

}  // namespace fathom
