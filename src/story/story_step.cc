#include "story/story_step.h"

#include <algorithm>
#include <array>

#include "base/text_parts.h"
#include "scan/facts/pattern_ids.h"

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

void say_left_out(StoryStep& step, size_t count) {
  for (StepRemark& remark : step.remarks) {
    if (!remark.words.is(Phrase::kStepsLeftOut)) continue;
    remark.words.list.front().count += count;
    return;
  }
  step.remarks.push_back({Words(Phrase::kStepsLeftOut, count), "", {}, {}});
}

// Takes steps without weight out of the lists at `level`, counted from 1.
size_t drop_minor(std::vector<StoryStep>& steps, size_t level, size_t& over) {
  size_t gone = 0;
  for (StoryStep& step : steps) {
    if (over == 0) break;
    if (step.inside.empty()) continue;
    if (level > 1) {
      gone += drop_minor(step.inside, level - 1, over);
      continue;
    }
    size_t minor = 0;
    for (const StoryStep& inner : step.inside)
      minor += matters(inner) ? 0 : 1 + count_steps(inner.inside);
    if (minor < 2) continue;
    std::erase_if(step.inside, [](const StoryStep& inner) { return !matters(inner); });
    say_left_out(step, minor);
    gone += minor;
    over -= std::min(over, minor);
  }
  return gone;
}

// Takes out what lies at `level`, counted from 1, as far as needed; what held it says so.
size_t cut_level(std::vector<StoryStep>& steps, size_t level, size_t& over) {
  size_t gone = 0;
  for (StoryStep& step : steps) {
    if (over == 0) break;
    if (step.inside.empty()) continue;
    if (level > 1) {
      gone += cut_level(step.inside, level - 1, over);
      continue;
    }
    if (count_steps(step.inside) < 2) continue;
    // From the end, as many as there is no room for.
    size_t inside = 0;
    while (!step.inside.empty() && (inside < over || inside < 2)) {
      inside += 1 + count_steps(step.inside.back().inside);
      step.inside.pop_back();
    }
    say_left_out(step, inside);
    gone += inside;
    over -= std::min(over, inside);
  }
  return gone;
}

// "__shared__ float tile[32][33]" → "tile"
std::string declared_name(std::string_view code) {
  code = code.substr(0, std::min(code.find('['), code.find('=')));
  while (code.ends_with(' ')) code.remove_suffix(1);
  const size_t space = code.find_last_of(" *&>");
  return std::string(space == std::string_view::npos ? code : code.substr(space + 1));
}

// "const auto pos = indices[i]" → "pos"; what sets no name is its own name.
std::string name_set(std::string_view code) {
  if (code.starts_with("__shared__") || code.starts_with("extern __shared__"))  // source text
    return declared_name(code);
  const size_t equals = code.find('=');
  if (equals == std::string_view::npos || equals == 0) return std::string(code);
  // float sums[ROWS * 4] = {}: the array's name, not what its extent ends with.
  const bool declares = code.find(' ') < code.find('[');
  std::string_view left = code.substr(0, declares ? std::min(equals, code.find('[')) : equals);
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
  // Several checks are one line: what each of them says where it fails is left out.
  if (first.words.is(Phrase::kFailsWhere)) {
    first.remarks.clear();
    return;
  }
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
    std::string name = step.words.is(Phrase::kChecks) || step.words.is(Phrase::kFailsWhere) ||
                               step.words.is(Phrase::kCheckedWhenCompiled)
                           ? tidy_code(code, 60)
                           : name_set(code);
    if (!contains(names, name)) names.push_back(std::move(name));
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

bool matters(const StoryStep& step) {
  constexpr std::array phrases = {Phrase::kReadsGlobal,
                                  Phrase::kReadsShared,
                                  Phrase::kWritesGlobal,
                                  Phrase::kWritesShared,
                                  Phrase::kUpdatesGlobal,
                                  Phrase::kUpdatesShared,
                                  Phrase::kGlobalToShared,
                                  Phrase::kReadsAndWritesGlobal,
                                  Phrase::kReadsAndWritesShared,
                                  Phrase::kSharedToGlobal,
                                  Phrase::kWarpMaximum,
                                  Phrase::kWarpMinimum,
                                  Phrase::kWarpSum,
                                  Phrase::kWarpExchange,
                                  Phrase::kGroupSum,
                                  Phrase::kGroupMaximum,
                                  Phrase::kGroupReduction,
                                  Phrase::kGroupExchange,
                                  Phrase::kGroupVote,
                                  Phrase::kGroupSync,
                                  Phrase::kGroupScan,
                                  Phrase::kBlockLoad,
                                  Phrase::kBlockStore,
                                  Phrase::kBlockSum,
                                  Phrase::kBlockReduction,
                                  Phrase::kBlockScan,
                                  Phrase::kBlockSort,
                                  Phrase::kBlockExchange,
                                  Phrase::kBlockHistogram,
                                  Phrase::kWarpReduction,
                                  Phrase::kWarpScan,
                                  Phrase::kWarpLoad,
                                  Phrase::kWarpStore,
                                  Phrase::kAccumulates,
                                  Phrase::kLaunches,
                                  Phrase::kLaunchesHere,
                                  Phrase::kLaunchesOther,
                                  Phrase::kCallsLibrary,
                                  Phrase::kEndsWhere,
                                  Phrase::kCalls,
                                  Phrase::kCallsWithCode,
                                  Phrase::kAllocates};
  if (std::any_of(phrases.begin(), phrases.end(),
                  [&](Phrase phrase) { return step.words.is(phrase); })) {
    return true;
  }
  const bool room = step.words.is_pattern(pattern_id::kSharedStatic) ||
                    step.words.is_pattern(pattern_id::kSharedDynamic);
  if (step.words.is(Phrase::kPattern) && !room) return true;
  return std::any_of(step.inside.begin(), step.inside.end(), matters);
}

size_t shorten(std::vector<StoryStep>& steps, size_t most) {
  size_t gone = 0, count = count_steps(steps);
  for (size_t level = deepest(steps); level > 1 && count > most; --level) {
    size_t over = count - most;
    gone += drop_minor(steps, level - 1, over);
    count = count_steps(steps);
  }
  size_t minor = 0;
  for (const StoryStep& step : steps) minor += matters(step) ? 0 : 1 + count_steps(step.inside);
  if (count > most && minor > 1) {
    std::erase_if(steps, [](const StoryStep& step) { return !matters(step); });
    gone += minor;
    count -= minor;
  }
  for (size_t level = deepest(steps); level > 1 && count > most; --level) {
    size_t over = count - most;
    gone += cut_level(steps, level - 1, over);
    count = count_steps(steps);
  }
  // Loops with one step each are whole; of very many the last ones go.
  const size_t slack = most + most / 4;
  while (steps.size() > most && (gone > 0 || steps.size() > most + 1)) {
    const size_t last = 1 + count_steps(steps.back().inside);
    steps.pop_back();
    gone += last;
    count -= last;
  }
  while (count > slack && steps.size() > 1) {
    const size_t last = 1 + count_steps(steps.back().inside);
    steps.pop_back();
    gone += last;
    count -= last;
  }
  return gone;
}

void fold_computations(std::vector<StoryStep>& steps) {
  std::vector<StoryStep> folded;
  for (StoryStep& step : steps) {
    fold_computations(step.inside);
    const bool same = !folded.empty() && folded.back().words == step.words &&
                      folded.back().at.file == step.at.file;
    const bool joins = same && ((folded.back().only_computes && step.only_computes) ||
                                (folded.back().folds && step.folds));
    if (joins) {
      fold_into(folded.back(), step);
    } else {
      folded.push_back(std::move(step));
    }
  }
  for (StoryStep& step : folded) {
    if (step.only_computes || step.folds) show_names_of_many(step);
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
