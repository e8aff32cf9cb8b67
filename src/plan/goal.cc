#include "plan/goal.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/utf8.h"
#include "plan/goal_constraints.h"
#include "plan/goal_subjects.h"

namespace fathom {
namespace {

class GoalReader {
 public:
  GoalReader(std::string_view goal, const CodeFacts& facts) : facts_(facts) {
    text_ = goal_text(goal);
    out_.reading.original = cut_to_bytes(with_valid_utf8(goal), kMaxGoalBytes);
  }

  ReadGoal read() {
    read_constraints(text_, out_);
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
      subjects_.add_subject(
          {SubjectKind::kProject, facts_.repository, facts_.repository, project_said_, ""});
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
      // "raise the batch size to 64": against what it is without that.
      const bool is_change = at > 0 && is_word(at - 1, {"to"}) && numbers.size() == 1;
      while (name_end > 0 && is_word(name_end - 1, {"of", "is", "to", "from", "at", "as"}))
        --name_end;
      bool named = false;
      for (size_t count = std::min(kMostNameWords, name_end); count > 0 && !named; --count)
        named = take_numbers(name_end - count, count, numbers, name_end - count, end, is_change);
      for (size_t count = std::min<size_t>(2, text_.words.size() - end); count > 0 && !named;
           --count)
        named = take_numbers(end, count, numbers, at, end + count, false);
      at = end - 1;
    }
  }
  // The options that `count` words from `name` on name get the numbers; the words from `begin` to
  // `end` are read then.
  bool take_numbers(size_t name, size_t count, const std::vector<std::string>& numbers,
                    size_t begin, size_t end, bool is_change) {
    std::string wanted;
    for (size_t i = name; i < name + count; ++i) wanted += squashed(text_.words[i].text);
    if (wanted.size() > 3 && wanted.ends_with('s')) wanted.pop_back();
    if (wanted.size() < 2) return false;
    if (!subjects_.add_option_numbers(wanted, numbers, text_.said(begin, end - begin), is_change))
      return false;
    text_.take(begin, end - begin);
    return true;
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
          subjects_.add_option(token)) {
        take_token(i);
        continue;
      }
      if (!is_identifier(token) || is_taken(i) || is_common(token)) continue;
      if (subjects_.add_option(token) || subjects_.add_kernels(token, true) ||
          subjects_.add_entry(token))
        take_token(i);
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
        subjects_.add_target(best_claim->component ? "component" : "feature", best_claim->rule,
                             text_.said(at, taken), best == nullptr);
      }
      if (best != nullptr) subjects_.add_targets(*best, text_.said(at, taken));
      if (best == nullptr && best_claim == nullptr) {
        ++at;
        continue;
      }
      text_.take(at, taken);
      at += taken;
    }
  }
  // Words that nothing was read from: parts of kernels' names, values of options.
  void read_plain_names() {
    double number = 0;
    for (size_t at = 0; at < text_.words.size(); ++at) {
      GoalWord& word = text_.words[at];
      if (word.taken && read_number(word.text, number)) continue;
      if (out_.asks(Question::kComparison) && subjects_.add_size_option(word.text)) {
        word.taken = true;
        continue;
      }
      if (subjects_.add_option_value(text_.tokens[word.token])) {
        word.taken = true;
        continue;
      }
      if (!is_free(at) || take_joined(at)) continue;
      if (subjects_.add_kernels(word.text, false) || subjects_.add_entry(word.text) ||
          subjects_.add_option(word.text))
        word.taken = true;
    }
  }
  bool is_free(size_t at) const {
    return at < text_.words.size() && !text_.words[at].taken && !asking_.contains(at) &&
           !is_plain_word(text_.words, at);
  }
  // "selective scan" of selective_scan_kernel, "array size" of --arraysize: more words say more.
  bool take_joined(size_t at) {
    for (size_t count = 3; count > 1; --count) {
      std::string joined;
      size_t i = at;
      // A plain word inside of a name is a part of it: "size" is none by itself.
      while (i < at + count && i < text_.words.size() && !text_.words[i].taken)
        joined += text_.words[i++].text;
      if (i < at + count) continue;
      if (!subjects_.add_option(joined) && !subjects_.add_kernels(joined, false)) continue;
      text_.take(at, count);
      return true;
    }
    return false;
  }
  void list_unread() {
    std::vector<uint32_t> listed;
    double number = 0;
    for (size_t at = 0; at < text_.words.size(); ++at) {
      const GoalWord& word = text_.words[at];
      if (!is_free(at)) continue;
      // A number that nothing was made of is worth telling.
      if (word.text.size() < 2 && !read_number(word.text, number)) continue;
      if (std::ranges::find(listed, word.token) != listed.end()) continue;
      listed.push_back(word.token);
      if (listed.size() > 20) break;
      const std::string unread = cut_to_bytes(text_.tokens[word.token], 60);
      auto& all = out_.reading.unread;
      if (std::ranges::find(all, unread) == all.end()) all.push_back(unread);
    }
    if (text_.cut)
      out_.reading.unread.push_back(
          fmt::format("everything after the first {} words", text_.words.size()));
  }

  const CodeFacts& facts_;
  GoalText text_;
  ReadGoal out_;
  GoalSubjects subjects_{facts_, out_};
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

std::string code_place_text(const CodeFacts& facts, const CodePlace& at) {
  if (at.line == 0 || at.file >= facts.files.size()) return "";
  return fmt::format("{}:{}", with_valid_utf8(facts.files[at.file].path), at.line);
}

}  // namespace fathom
