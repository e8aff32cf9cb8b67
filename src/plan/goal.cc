#include "plan/goal.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/tsv.h"
#include "base/utf8.h"
#include "plan/goal_words.h"
#include "plan/plan_metrics.h"
#include "plan/program.h"
#include "platform/platform.h"
#include "scan/features/feature_rules.h"

extern const std::string_view plan_questions_tsv;
extern const std::string_view plan_synonyms_tsv;
extern const std::string_view plan_plain_words_tsv;
extern const std::string_view plan_constraints_tsv;
extern const std::string_view plan_tools_tsv;

namespace fathom {
namespace {

constexpr size_t kMostKernels = 6;         // named ones that get experiments of their own
constexpr size_t kMostNamedKernels = 200;  // a word that fits more names no kernel
constexpr size_t kShortestName = 4;  // letters of a word that may be a part of a kernel's name

struct Meaning {
  GoalPhrase phrase;
  std::vector<std::string_view> targets;  // "feature:x", "kernels"
};

struct GoalTables {
  std::vector<std::pair<GoalPhrase, Question>> questions;
  std::vector<Meaning> meanings;
  std::vector<GoalPhrase> plain;
};

const GoalTables& goal_tables() {
  static const GoalTables tables = [] {
    GoalTables out;
    for (const auto& row : read_tsv(plan_questions_tsv, 3)) {
      for (const Question question : kAllQuestions) {
        if (question_name(question) != row[0]) continue;
        for (const std::string_view words : split(row[1], '|'))
          out.questions.emplace_back(GoalPhrase(words), question);
      }
    }
    for (const auto& row : read_tsv(plan_synonyms_tsv, 2)) {
      for (const std::string_view words : split(row[0], '|'))
        out.meanings.push_back({GoalPhrase(words), split(row[1], ' ')});
    }
    for (const auto& row : read_tsv(plan_plain_words_tsv, 1)) {
      for (const std::string_view words : split(row[0], '|')) out.plain.emplace_back(words);
    }
    return out;
  }();
  return tables;
}

// What READMEs call features and components, as meanings of a goal's words.
const std::vector<std::pair<Meaning, const ClaimRule*>>& claim_meanings() {
  static const std::vector<std::pair<Meaning, const ClaimRule*>> meanings = [] {
    std::vector<std::pair<Meaning, const ClaimRule*>> out;
    for (const ClaimRule& claim : FeatureRules::built_in().claims()) {
      for (const std::string_view words : claim.phrases)
        out.push_back({{GoalPhrase(words), {}}, &claim});
    }
    return out;
  }();
  return meanings;
}

// Seconds of a unit of time; 0: it is none.
double seconds_of_unit(std::string_view unit) {
  for (const std::string_view one : {"s", "sec", "secs", "second", "seconds"}) {
    if (unit == one) return 1;
  }
  for (const std::string_view one : {"m", "min", "mins", "minute", "minutes"}) {
    if (unit == one) return 60;
  }
  for (const std::string_view one : {"h", "hr", "hrs", "hour", "hours"}) {
    if (unit == one) return 3600;
  }
  return 0;
}

// "20m" → 20, "m".
bool split_amount(std::string_view word, double& number, std::string_view& unit) {
  const size_t end = std::min(word.find_first_not_of("0123456789."), word.size());
  unit = word.substr(end);
  return end > 0 && read_number(word.substr(0, end), number);
}

// A platform by one to three words from `at` on; how many words it took.
struct FoundPlatform {
  size_t words = 0;
  std::string name;  // empty: several fit
  std::string said;
};
FoundPlatform platform_at(const std::vector<GoalWord>& words, size_t at) {
  for (size_t count = std::min<size_t>(3, words.size() - at); count > 0; --count) {
    std::string name;
    for (size_t i = 0; i < count; ++i) name += (i > 0 ? " " : "") + words[at + i].text;
    // A name of a GPU has letters and digits: "h200", "mi300x"; not "a" or "100".
    const bool has_digit = name.find_first_of("0123456789") != std::string::npos;
    const bool has_letter = name.find_first_of("abcdefghijklmnopqrstuvwxyz") != std::string::npos;
    if (!has_digit || !has_letter || name.size() < 2) continue;
    const Result<const Platform*> found = Platforms::built_in().find(name);
    if (found.ok()) return {count, found.value()->name, name};
    if (count > 1) continue;
    size_t fitting = 0;  // "h100" is the PCIe or the SXM one
    for (const Platform& platform : Platforms::built_in().all())
      fitting += squashed(platform.name).starts_with(squashed(name)) ? 1 : 0;
    if (fitting > 1) return {count, "", name};
  }
  return {};
}

class GoalReader {
 public:
  GoalReader(std::string_view goal, const CodeFacts& facts) : facts_(facts) {
    text_ = goal_text(goal);
    out_.reading.original = cut_to_bytes(with_valid_utf8(goal), kMaxGoalBytes);
  }

  ReadGoal read() {
    read_constraints();
    read_questions();
    read_project();
    read_option_numbers();
    read_identifiers();
    read_meanings();
    read_plain_names();
    out_.understood = !asking_.empty() || std::ranges::any_of(text_.words, &GoalWord::taken);
    if (out_.reading.asked.empty()) out_.reading.asked = {Question::kCharacteristics};
    const bool any = !out_.features.empty() || !out_.components.empty() || !out_.metrics.empty() ||
                     !out_.phases.empty() || !out_.kernels.empty() || !out_.options.empty() ||
                     !out_.entry_points.empty() || out_.all_kernels;
    out_.whole_project = !any;
    list_unread();
    return std::move(out_);
  }

 private:
  using Words = std::vector<GoalWord>;

  std::string said(size_t at, size_t count) const {
    std::string out;
    uint32_t last = UINT32_MAX;
    for (size_t i = at; i < at + count && i < text_.words.size(); ++i) {
      const uint32_t token = text_.words[i].token;
      if (token == last) continue;
      out += (out.empty() ? "" : " ") + text_.tokens[token];
      last = token;
    }
    return out;
  }
  void take(size_t at, size_t count) {
    for (size_t i = at; i < at + count; ++i) text_.words[i].taken = true;
  }

  // One pattern of constraints.tsv from `at` on: literal words and {kinds}.
  struct Filled {
    size_t words = 0;
    double number = 0;
    double unit_seconds = 0;
    FoundPlatform platform;
    std::string tool;
  };
  std::optional<Filled> fill(std::string_view pattern, size_t at) const {
    Filled filled;
    const Words& words = text_.words;
    size_t i = at;
    std::string_view glued_unit;
    for (const std::string_view part : split(pattern, ' ')) {
      if (part == "{unit}" && !glued_unit.empty()) {
        filled.unit_seconds = seconds_of_unit(glued_unit);
        if (filled.unit_seconds == 0) return std::nullopt;
        glued_unit = {};
        continue;
      }
      if (i >= words.size() || !glued_unit.empty()) return std::nullopt;
      const std::string& word = words[i].text;
      if (part == "{number}") {
        if (!read_number(word, filled.number) &&
            (!split_amount(word, filled.number, glued_unit) || seconds_of_unit(glued_unit) == 0))
          return std::nullopt;
      } else if (part == "{unit}") {
        filled.unit_seconds = seconds_of_unit(word);
        if (filled.unit_seconds == 0) return std::nullopt;
      } else if (part == "{gpu}") {
        filled.platform = platform_at(words, i);
        if (filled.platform.words == 0) return std::nullopt;
        i += filled.platform.words;
        continue;
      } else if (part == "{tool}") {
        const size_t taken = tool_at(i, filled.tool);
        if (taken == 0) return std::nullopt;
        i += taken;
        continue;
      } else if (GoalPhrase(part).match(words, i) == 0) {
        return std::nullopt;
      }
      ++i;
    }
    if (!glued_unit.empty()) return std::nullopt;
    filled.words = i - at;
    return filled;
  }
  size_t tool_at(size_t at, std::string& tool) const {
    size_t longest = 0;
    for (const auto& row : read_tsv(plan_tools_tsv, 3)) {
      for (const std::string_view words : split(row[1], '|')) {
        const size_t taken = GoalPhrase(words).match(text_.words, at);
        if (taken <= longest) continue;
        longest = taken;
        tool = row[0];
      }
    }
    return longest;
  }

  void read_constraints() {
    const auto rows = read_tsv(plan_constraints_tsv, 2);
    for (size_t at = 0; at < text_.words.size();) {
      size_t taken = 0;
      for (size_t r = 0; r < rows.size() && taken == 0; ++r) {
        for (const std::string_view pattern : split(rows[r][1], '|')) {
          const std::optional<Filled> filled = fill(pattern, at);
          if (!filled) continue;
          add_constraint(rows[r][0], *filled, said(at, filled->words));
          taken = filled->words;
          break;
        }
      }
      if (taken > 0) take(at, taken);
      at += std::max<size_t>(taken, 1);
    }
  }
  void add_constraint(std::string_view kind, const Filled& filled, std::string words) {
    auto& list = out_.reading.constraints;
    if (kind == "time") {
      out_.seconds = filled.number * filled.unit_seconds;
      list.push_back({ConstraintKind::kTime, std::move(words), fmt::format("{}", *out_.seconds)});
    } else if (kind == "accuracy") {
      list.push_back(
          {ConstraintKind::kAccuracy, std::move(words), fmt::format("{}", filled.number)});
    } else if (kind == "accuracy exact") {
      list.push_back({ConstraintKind::kAccuracy, std::move(words), "0"});
    } else if (kind == "tool") {
      list.push_back({ConstraintKind::kTool, std::move(words), filled.tool});
      for (const auto& row : read_tsv(plan_tools_tsv, 3)) {
        if (row[0] != filled.tool) continue;
        for (const std::string_view option : split(row[2], ' ')) out_.left_out.emplace_back(option);
      }
    }
    if (kind == "gpus" && filled.number >= 1 && filled.number <= 1e6) {
      out_.gpus = static_cast<int64_t>(filled.number);
      list.push_back({ConstraintKind::kGpuCount, words, std::to_string(*out_.gpus)});
    }
    if (filled.platform.words == 0) return;
    if (filled.platform.name.empty()) {
      out_.ambiguous.push_back(filled.platform.said);
    } else {
      out_.platform = filled.platform.name;
    }
    if (kind == "hardware")
      list.push_back({ConstraintKind::kHardware, std::move(words),
                      filled.platform.name.empty() ? filled.platform.said : filled.platform.name});
  }

  // Words that ask may also stand for something: "idle" asks for a bottleneck and names a metric.
  void read_questions() {
    std::set<Question> asked;
    for (const auto& [phrase, question] : goal_tables().questions) {
      for (size_t at = 0; at < text_.words.size(); ++at) {
        const size_t count = phrase.match(text_.words, at);
        if (count == 0 || text_.words[at].taken) continue;
        asked.insert(question);
        for (size_t i = at; i < at + count; ++i) asking_.insert(i);
      }
    }
    // In the order of the table, which has the most particular first.
    for (const auto& [phrase, question] : goal_tables().questions) {
      if (asked.erase(question) > 0) out_.reading.asked.push_back(question);
    }
  }

  // "vLLM", "SGLang" of mini-sglang: the repository by its own names.
  void read_project() {
    std::vector<std::string> names = {squashed(facts_.repository)};
    if (facts_.readme) names.push_back(squashed(facts_.readme->title));
    for (size_t i = 0; i < text_.tokens.size(); ++i) {
      const std::string token = squashed(text_.tokens[i]);
      if (token.size() < 3) continue;
      const auto is_own = [&](const std::string& name) {
        return !name.empty() && name.size() < 60 &&
               (name == token || (token.size() >= kShortestName &&
                                  (name.ends_with(token) || name.starts_with(token))));
      };
      if (std::ranges::none_of(names, is_own)) continue;
      if (std::ranges::find(names, token) == names.end() && is_common(text_.tokens[i])) continue;
      if (stands_for_something(text_.tokens[i])) continue;
      project_said_ = text_.tokens[i];
      for (GoalWord& word : text_.words) {
        if (word.token == i) word.taken = true;
      }
      add_subject({SubjectKind::kProject, facts_.repository, facts_.repository, project_said_, ""});
      return;
    }
  }
  // "kernels" in the repository kernels.
  bool stands_for_something(const std::string& token) const {
    const GoalText alone = goal_text(token);
    return std::ranges::any_of(goal_tables().meanings, [&](const Meaning& meaning) {
      return meaning.phrase.match(alone.words, 0) == alone.words.size();
    });
  }
  // A word that has a meaning of its own.
  bool is_common(const std::string& token) const {
    const GoalText alone = goal_text(token);
    for (const Meaning& meaning : goal_tables().meanings) {
      if (meaning.phrase.match(alone.words, 0) == alone.words.size()) return true;
    }
    for (const auto& [meaning, claim] : claim_meanings()) {
      if (meaning.phrase.match(alone.words, 0) == alone.words.size()) return true;
    }
    return is_plain_word(alone.words, 0);
  }
  static bool is_plain_word(const Words& words, size_t at) {
    if (at >= words.size()) return false;
    return std::ranges::any_of(goal_tables().plain, [&](const GoalPhrase& phrase) {
      return phrase.match(words, at) == 1;
    });
  }

  bool is_free_number(size_t at) const {
    double number = 0;
    return at < text_.words.size() && !text_.words[at].taken &&
           read_number(text_.words[at].text, number);
  }
  bool is_word(size_t at, std::initializer_list<std::string_view> any) const {
    return at < text_.words.size() &&
           std::ranges::find(any, text_.words[at].text) != std::ranges::end(any);
  }
  // "page sizes 1, 16 and 256", "at batch 512", "with 8 threads": numbers beside the name of an
  // option.
  void read_option_numbers() {
    constexpr size_t kMostNumbers = 16, kMostNameWords = 4;
    for (size_t at = 0; at < text_.words.size(); ++at) {
      if (!is_free_number(at)) continue;
      std::vector<std::string> numbers = {text_.words[at].text};
      size_t end = at + 1;
      while (numbers.size() < kMostNumbers) {
        const bool joined = is_word(end, {"and", "or", "vs", "versus", "to", "against", "with"});
        const size_t next = end + (joined ? 1 : 0);
        if (!is_free_number(next)) break;
        numbers.push_back(text_.words[next].text);
        end = next + 1;
      }
      size_t name_end = at;
      while (name_end > 0 && is_word(name_end - 1, {"of", "is", "to", "from", "at", "as"}))
        --name_end;
      bool named = false;
      for (size_t count = std::min(kMostNameWords, name_end); count > 0 && !named; --count)
        named = take_numbers(name_end - count, count, numbers, name_end - count, end);
      for (size_t count = std::min<size_t>(2, text_.words.size() - end); count > 0 && !named;
           --count)
        named = take_numbers(end, count, numbers, at, end + count);
      at = end - 1;
    }
  }
  // The options that `count` words from `name` on name get the numbers; the words from `begin` to
  // `end` are read then.
  bool take_numbers(size_t name, size_t count, const std::vector<std::string>& numbers,
                    size_t begin, size_t end) {
    std::string wanted;
    for (size_t i = name; i < name + count; ++i) wanted += squashed(text_.words[i].text);
    if (wanted.size() > 3 && wanted.ends_with('s')) wanted.pop_back();
    if (wanted.size() < 2) return false;
    bool found = false;
    for (uint32_t i = 0; i < facts_.options.size() && out_.options.size() < 8; ++i) {
      const OptionFacts& option = facts_.options[i];
      const std::string own = squashed(option.name);
      if (option.kind != OptionKind::kCli || !option.name.starts_with('-')) continue;
      if (own != wanted && own != wanted + "s" && own != wanted + "size" && own != "num" + wanted &&
          own != "num" + wanted + "s" && own + "size" != wanted)
        continue;
      found = true;
      if (std::ranges::find(out_.options, i) == out_.options.end()) out_.options.push_back(i);
      for (const std::string& number : numbers) out_.option_numbers.emplace_back(i, number);
      add_subject({SubjectKind::kOption, option.name, option.name, said(begin, end - begin),
                   code_place_text(facts_, option.at)});
    }
    if (found) take(begin, end - begin);
    return found;
  }

  // Tokens that look like names of the code: with an underscore, dashes in front, or capitals
  // inside.
  static bool is_identifier(const std::string& token) {
    if (token.starts_with("--")) return true;
    if (token.find('_') != std::string::npos) return true;
    if (token.find("::") != std::string::npos) return true;
    bool small = false;
    for (const char c : token) {
      if (small && c >= 'A' && c <= 'Z') return true;
      small = c >= 'a' && c <= 'z';
    }
    return false;
  }
  void read_identifiers() {
    for (uint32_t i = 0; i < text_.tokens.size(); ++i) {
      const std::string& token = text_.tokens[i];
      // "page-size" where there is --page-size.
      if (token.find('-', 1) != std::string::npos && !is_taken(i) && !is_common(token) &&
          add_option(token)) {
        take_token(i);
        continue;
      }
      if (!is_identifier(token) || is_taken(i) || is_common(token)) continue;
      if (add_option(token) || add_kernels(token, true) || add_entry(token)) take_token(i);
    }
  }
  bool is_taken(uint32_t token) const {
    return std::ranges::any_of(
        text_.words, [&](const GoalWord& word) { return word.token == token && word.taken; });
  }
  void take_token(uint32_t token) {
    for (GoalWord& word : text_.words) {
      if (word.token == token) word.taken = true;
    }
  }

  bool add_option(const std::string& token) {
    const std::string wanted = squashed(token);
    if (wanted.size() < 2) return false;
    bool found = false;
    for (uint32_t i = 0; i < facts_.options.size(); ++i) {
      const OptionFacts& option = facts_.options[i];
      const size_t dot = option.name.rfind('.');
      const std::string last = squashed(
          option.kind == OptionKind::kConfig && dot != std::string::npos ? option.name.substr(dot)
                                                                         : option.name);
      if (last != wanted) continue;
      found = true;
      if (out_.options.size() >= 8) break;
      out_.options.push_back(i);
      add_subject({SubjectKind::kOption, option.name, option.name, token,
                   code_place_text(facts_, option.at)});
    }
    return found;
  }

  bool add_kernels(const std::string& token, bool whole_name) {
    const std::string wanted = squashed(token);
    if (wanted.size() < kShortestName && !whole_name) return false;
    std::vector<uint32_t> exact, inside;
    for (uint32_t i = 0; i < facts_.kernels.size(); ++i) {
      const KernelFacts& kernel = facts_.kernels[i];
      if (kernel.dead) continue;
      const std::string name = squashed(kernel.name);
      const std::string& path = facts_.files[kernel.at.file].path;
      const size_t slash = path.rfind('/');
      const std::string file = squashed(path.substr(slash == std::string::npos ? 0 : slash + 1));
      const bool launched_there = wanted.size() >= kShortestName && whole_name &&
                                  std::ranges::any_of(kernel.launchers, [&](const auto& launcher) {
                                    return is_file(launcher.at.file, wanted);
                                  });
      if (name == wanted || name == wanted + "kernel") {
        exact.push_back(i);
      } else if (name.find(wanted) != std::string::npos ||
                 (wanted.size() >= kShortestName && file.starts_with(wanted)) || launched_there) {
        inside.push_back(i);
      }
    }
    const std::vector<uint32_t>& found = exact.empty() ? inside : exact;
    if (found.empty() || found.size() > kMostNamedKernels) return false;
    out_.kernels_named += static_cast<uint32_t>(found.size());
    for (const uint32_t i : found) {
      if (out_.kernels.size() >= kMostKernels) break;
      if (std::ranges::find(out_.kernels, i) != out_.kernels.end()) continue;
      out_.kernels.push_back(i);
      const KernelFacts& kernel = facts_.kernels[i];
      add_subject({SubjectKind::kKernel, kernel.name, kernel.name, token,
                   code_place_text(facts_, {kernel.at.file, kernel.line_name})});
    }
    return true;
  }

  // "flash attention" where kernels lie in flash_attention/.
  bool add_kernels_of_path(const std::string& words) {
    const std::string wanted = squashed(words);
    if (wanted.size() < kShortestName) return false;
    uint32_t found = 0;
    for (uint32_t i = 0; i < facts_.kernels.size(); ++i) {
      const KernelFacts& kernel = facts_.kernels[i];
      if (kernel.dead ||
          squashed(facts_.files[kernel.at.file].path).find(wanted) == std::string::npos)
        continue;
      ++found;
      if (out_.kernels.size() >= kMostKernels ||
          std::ranges::find(out_.kernels, i) != out_.kernels.end())
        continue;
      out_.kernels.push_back(i);
      add_subject({SubjectKind::kKernel, kernel.name, kernel.name, words,
                   code_place_text(facts_, {kernel.at.file, kernel.line_name})});
    }
    out_.kernels_named += found;
    return found > 0;
  }

  // "v7_specialised" is v7_specialised.cu.
  bool is_file(uint32_t position, const std::string& wanted) const {
    const std::string& path = facts_.files[position].path;
    const size_t slash = path.rfind('/');
    const std::string name = path.substr(slash == std::string::npos ? 0 : slash + 1);
    return squashed(name.substr(0, name.rfind('.'))) == wanted;
  }

  bool add_entry(const std::string& token) {
    const std::string wanted = squashed(token);
    if (wanted.size() < kShortestName) return false;
    for (uint32_t i = 0; i < facts_.entry_points.size(); ++i) {
      const EntryPoint& entry = facts_.entry_points[i];
      const std::string name = squashed(entry.name);
      const bool file = token.find('.') != std::string::npos && name.ends_with(wanted);
      const bool stem = name.ends_with(wanted + "py") || name == wanted;
      if (!file && !stem) continue;
      out_.entry_points.push_back(i);
      add_subject({SubjectKind::kEntryPoint, entry.name, entry.name, token,
                   code_place_text(facts_, entry.at)});
      return true;
    }
    return false;
  }

  // The longest phrase at each place counts.
  void read_meanings() {
    for (size_t at = 0; at < text_.words.size();) {
      if (text_.words[at].taken) {
        ++at;
        continue;
      }
      const Meaning* best = nullptr;
      const ClaimRule* best_claim = nullptr;
      size_t weight = 0, taken = 0;
      for (const Meaning& meaning : goal_tables().meanings) {
        const size_t count = meaning.phrase.match(text_.words, at);
        if (count == 0 || meaning.phrase.weight() <= weight) continue;
        best = &meaning;
        weight = meaning.phrase.weight();
        taken = count;
      }
      for (const auto& [meaning, claim] : claim_meanings()) {
        const size_t count = meaning.phrase.match(text_.words, at);
        // A README's name for a technique is the more particular one.
        if (count == 0 || meaning.phrase.weight() < weight) continue;
        if (meaning.phrase.weight() > weight) best = nullptr;
        best_claim = claim;
        weight = meaning.phrase.weight();
        taken = count;
      }
      if (best_claim != nullptr) {
        add_target(best_claim->component ? "component" : "feature", best_claim->rule,
                   said(at, taken), best == nullptr);
      }
      if (best != nullptr) add_targets(*best, said(at, taken));
      if (best == nullptr && best_claim == nullptr) {
        ++at;
        continue;
      }
      take(at, taken);
      at += taken;
    }
  }
  void add_targets(const Meaning& meaning, const std::string& words) {
    for (const std::string_view target : meaning.targets) {
      const size_t colon = std::min(target.find(':'), target.size());
      const std::string_view id = colon < target.size() ? target.substr(colon + 1) : "";
      // Of several meanings only those that the code has are meant.
      add_target(target.substr(0, colon), id, words, meaning.targets.size() == 1);
    }
  }
  void add_target(std::string_view kind, std::string_view id, const std::string& words,
                  bool only_meaning) {
    if (kind == "feature") {
      add_feature(id, words, only_meaning);
    } else if (kind == "component") {
      const auto& all = facts_.components;
      const auto found = std::ranges::find(all, id, &ComponentFacts::id);
      if (found != all.end()) {
        add_unique(out_.components, id);
        add_subject(
            {SubjectKind::kComponent, found->id, found->title, words,
             found->evidence.empty() ? "" : code_place_text(facts_, found->evidence[0].at)});
      } else if (only_meaning) {
        add_unique(out_.absent, component_title(id));
      }
    } else if (kind == "metric") {
      if (const PlanMetric* metric = find_plan_metric(id)) {
        add_unique(out_.metrics, id);
        add_subject({SubjectKind::kMetric, std::string(id), std::string(metric->title), words, ""});
      }
    } else if (kind == "phase") {
      add_unique(out_.phases, id);
      add_subject({SubjectKind::kPhase, std::string(id), std::string(id), words, ""});
    } else if (kind == "area") {
      for (const FeatureFacts& feature : facts_.features) {
        if (feature.area == id) add_feature(feature.id, words, false);
      }
    } else if (kind == "kernels") {
      out_.all_kernels = true;
    }
  }
  static std::string component_title(std::string_view id) {
    for (const ComponentRule& rule : FeatureRules::built_in().components()) {
      if (rule.id == id) return std::string(rule.title);
    }
    return std::string(id);
  }
  void add_feature(std::string_view id, const std::string& words, bool only_meaning) {
    const auto& all = facts_.features;
    const auto found = std::ranges::find(all, id, &FeatureFacts::id);
    if (found == all.end()) {
      if (!only_meaning || add_kernels_of_path(words)) return;
      for (const FeatureRule& rule : FeatureRules::built_in().features()) {
        if (rule.id == id) add_unique(out_.absent, rule.title);
      }
      return;
    }
    const auto position = static_cast<uint32_t>(found - all.begin());
    if (std::ranges::find(out_.features, position) != out_.features.end()) return;
    out_.features.push_back(position);
    add_subject({SubjectKind::kFeature, found->id, found->title, words,
                 found->evidence.empty() ? "" : code_place_text(facts_, found->evidence[0].at)});
  }

  // Words that nothing was read from: parts of kernels' names, values of options.
  void read_plain_names() {
    double number = 0;
    for (size_t at = 0; at < text_.words.size(); ++at) {
      GoalWord& word = text_.words[at];
      if (word.taken && read_number(word.text, number)) continue;
      if (out_.asks(Question::kComparison) && add_size_option(word.text)) {
        word.taken = true;
        continue;
      }
      if (add_option_value(text_.tokens[word.token])) {
        word.taken = true;
        continue;
      }
      if (word.taken || asking_.contains(at) || is_plain_word(text_.words, at)) continue;
      if (add_kernels(word.text, false) || add_entry(word.text) || add_option(word.text))
        word.taken = true;
    }
  }
  // "batch sizes" of a program with --batch: what a comparison varies.
  bool add_size_option(std::string word) {
    if (word.ends_with('s') && word.size() > kShortestName) word.pop_back();
    if (word.size() < kShortestName) return false;
    bool found = false;
    for (uint32_t i = 0; i < facts_.options.size() && out_.options.size() < 8; ++i) {
      const OptionFacts& option = facts_.options[i];
      const std::string name = squashed(option.name);
      const bool named = name == word || name == word + "s" || name == word + "size";
      if (option.kind != OptionKind::kCli || !named || values_of(option, {}).empty()) continue;
      found = true;
      if (std::ranges::find(out_.options, i) != out_.options.end()) continue;
      out_.options.push_back(i);
      add_subject({SubjectKind::kOption, option.name, option.name, word,
                   code_place_text(facts_, option.at)});
    }
    return found;
  }
  // "flashinfer" where an option has the choices flashinfer and fa3.
  bool add_option_value(const std::string& token) {
    const std::string wanted = squashed(token);
    if (wanted.size() < 2) return false;
    bool found = false;
    for (uint32_t i = 0; i < facts_.options.size() && out_.option_values.size() < 16; ++i) {
      const OptionFacts& option = facts_.options[i];
      if (option.kind != OptionKind::kCli || option.choices.size() < 2) continue;
      for (const std::string& choice : option.choices) {
        if (squashed(choice) != wanted) continue;
        const std::pair<uint32_t, std::string> value(i, choice);
        if (std::ranges::find(out_.option_values, value) == out_.option_values.end())
          out_.option_values.push_back(value);
        found = true;
      }
    }
    return found;
  }

  void list_unread() {
    std::vector<uint32_t> listed;
    double number = 0;
    for (size_t at = 0; at < text_.words.size(); ++at) {
      const GoalWord& word = text_.words[at];
      if (word.taken || asking_.contains(at) || is_plain_word(text_.words, at)) continue;
      // A number that nothing was made of is worth telling.
      if (word.text.size() < 2 && !read_number(word.text, number)) continue;
      if (std::ranges::find(listed, word.token) != listed.end()) continue;
      listed.push_back(word.token);
      if (listed.size() > 20) break;
      add_unique(out_.reading.unread, cut_to_bytes(text_.tokens[word.token], 60));
    }
    if (text_.cut)
      out_.reading.unread.push_back(
          fmt::format("everything after the first {} words", text_.words.size()));
  }

  void add_subject(GoalSubject subject) {
    auto& all = out_.reading.subjects;
    const auto same = [&](const GoalSubject& other) {
      return other.kind == subject.kind && other.id == subject.id && other.where == subject.where;
    };
    if (std::ranges::none_of(all, same)) all.push_back(std::move(subject));
  }
  static void add_unique(std::vector<std::string>& list, std::string_view text) {
    if (std::ranges::find(list, text) == list.end()) list.emplace_back(text);
  }

  const CodeFacts& facts_;
  GoalText text_;
  ReadGoal out_;
  std::string project_said_;
  std::set<size_t> asking_;  // positions of words that ask
};

}  // namespace

bool ReadGoal::asks(Question question) const {
  return std::ranges::find(reading.asked, question) != reading.asked.end();
}

std::vector<std::string> ReadGoal::numbers_of(uint32_t option) const {
  std::vector<std::string> out;
  for (const auto& [position, number] : option_numbers) {
    if (position == option && std::ranges::find(out, number) == out.end()) out.push_back(number);
  }
  return out;
}

ReadGoal read_goal(std::string_view goal, const CodeFacts& facts) {
  return GoalReader(goal, facts).read();
}

std::vector<std::string> metrics_in_words(std::string_view text) {
  const GoalText words = goal_text(text.substr(0, 400));
  std::vector<std::string> metrics;
  for (size_t at = 0; at < words.words.size();) {
    const Meaning* best = nullptr;
    size_t weight = 0, taken = 0;
    for (const Meaning& meaning : goal_tables().meanings) {
      const size_t count = meaning.phrase.match(words.words, at);
      if (count == 0 || meaning.phrase.weight() <= weight) continue;
      best = &meaning;
      weight = meaning.phrase.weight();
      taken = count;
    }
    for (const std::string_view target :
         best != nullptr ? best->targets : std::vector<std::string_view>{}) {
      // A line of a program is of one thing: words with several meanings do not tell of which.
      if (!target.starts_with("metric:") || best->targets.size() > 1) continue;
      const std::string id(target.substr(7));
      if (std::ranges::find(metrics, id) == metrics.end()) metrics.push_back(id);
    }
    at += std::max<size_t>(taken, 1);
  }
  return metrics;
}

std::optional<double> read_duration(std::string_view text) {
  while (text.ends_with(' ')) text.remove_suffix(1);
  while (text.starts_with(' ')) text.remove_prefix(1);
  double number = 0;
  std::string_view unit;
  if (!split_amount(text, number, unit)) return std::nullopt;
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  const double seconds = seconds_of_unit(unit);
  if (seconds == 0 || number <= 0 || number * seconds > 1e7) return std::nullopt;
  return number * seconds;
}

std::string code_place_text(const CodeFacts& facts, const CodePlace& at) {
  if (at.line == 0 || at.file >= facts.files.size()) return "";
  return fmt::format("{}:{}", with_valid_utf8(facts.files[at.file].path), at.line);
}

}  // namespace fathom
