// Words are for the reader: stories are made of kinds, and other words change nothing else.
#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/tsv.h"
#include "checks.h"
#include "report/scan/story_markdown.h"
#include "scan/cpp/code_patterns.h"
#include "scan/facts/pattern_ids.h"
#include "scan/scan_repository.h"
#include "story/device_story.h"
#include "story/integration.h"
#include "story/launch_story.h"
#include "story/python_story.h"
#include "test_files.h"

extern const std::string_view phrases_tsv, step_words_tsv;

namespace fathom {
namespace {

using WordsById = std::map<std::string, std::string, std::less<>>;

std::vector<Phrase> all_phrases() {
  std::vector<Phrase> out;
  for (unsigned i = static_cast<unsigned>(Phrase::kPatternTitle) + 1; i < 256; ++i) {
    const auto phrase = static_cast<Phrase>(i);
    if (phrase_id(phrase).empty()) break;
    out.push_back(phrase);
  }
  return out;
}

// The table with a placeholder for every word, which keeps the numbers that phrases have.
WordTable swapped_words() {
  const auto swap = [](std::string_view id, std::string_view words) {
    return "~" + std::string(id) + (words.find("{}") == std::string_view::npos ? "" : " {}") + "~";
  };
  WordsById phrases, patterns, titles;
  for (const auto& row : read_tsv(phrases_tsv, 2)) phrases.emplace(row[0], swap(row[0], row[1]));
  for (const auto& row : read_tsv(step_words_tsv, 3)) patterns.emplace(row[0], swap(row[0], ""));
  for (const cpp::CodePattern& pattern : cpp::PatternTable::built_in().patterns())
    titles.emplace(pattern.id, swap(pattern.id, ""));
  return {std::move(phrases), std::move(patterns), std::move(titles)};
}

// What is left of a story where the words that steps and remarks say are taken out: the numbers of
// steps, their depth, code, places and certainty.
class Skeleton {
 public:
  explicit Skeleton(const WordTable& words) : words_(words) {}

  std::string of(const CodeFacts& facts, const std::vector<StoryStep>& steps) {
    std::set<std::string, std::greater<>> said;  // the longer of two with one beginning goes first
    for (const StoryStep& step : steps) collect(step, said);
    std::string text = story_list(facts, steps, std::nullopt, words_);
    std::string out;
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at) + 1, text.size());
      out += without_words(text.substr(at, end - at), said);
      at = end;
    }
    return out;
  }

 private:
  void collect(const StoryStep& step, std::set<std::string, std::greater<>>& said) {
    said.insert(words_.text(step.words));
    for (const StepRemark& remark : step.remarks) said.insert(words_.text(remark.words));
    for (const StoryStep& inner : step.inside) collect(inner, said);
  }

  // A step's words stand behind its number, a remark's behind a comma outside of code.
  static std::string without_words(const std::string& line,
                                   const std::set<std::string, std::greater<>>& said) {
    std::string out;
    bool in_code = false;
    for (size_t i = 0; i < line.size();) {
      const bool begins = !in_code && (out.ends_with(". ") || out.ends_with(", "));
      const auto words = std::find_if(said.begin(), said.end(), [&](const std::string& one) {
        return begins && !one.empty() && line.compare(i, one.size(), one) == 0;
      });
      if (begins && words != said.end()) {
        out += "<words>";
        i += words->size();
        continue;
      }
      if (line[i] == '`') in_code = !in_code;
      out += line[i++];
    }
    return out;
  }

  const WordTable& words_;
};

TEST(StoryWords, EveryPhraseHasARowAndEveryRowAPhrase) {
  std::set<std::string> ids;
  for (const Phrase phrase : all_phrases()) {
    EXPECT_FALSE(WordTable::built_in().text(Words(phrase)).empty()) << phrase_id(phrase);
    EXPECT_TRUE(ids.emplace(phrase_id(phrase)).second) << phrase_id(phrase) << " twice";
  }
  EXPECT_GT(ids.size(), 100u);
  for (const auto& row : read_tsv(phrases_tsv, 2))
    EXPECT_TRUE(ids.erase(std::string(row[0])) == 1) << row[0];
  EXPECT_TRUE(ids.empty()) << *ids.begin();
}

TEST(StoryWords, IdsThatCodeAsksForAreRowsOfTheTable) {
  for (const std::string_view id : pattern_id::kAll)
    EXPECT_NE(cpp::PatternTable::built_in().find(id), nullptr) << id;
}

TEST(StoryWords, OtherWordsChangeNothingElse) {
  const WordTable swapped = swapped_words();
  size_t steps_told = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::source_dir() / "tests/scan/repositories")) {
    if (!entry.is_directory()) continue;
    const Repository repository = list_repository(entry.path(), 1).take();
    const CodeFacts facts = scan_repository(repository, {});
    SourceOutlines sources(repository.root, facts.files);
    const Parameters parameters;
    for (const KernelFacts& kernel : facts.kernels) {
      const KernelLauncher* launcher =
          kernel.launchers.empty() ? nullptr : &kernel.launchers.front();
      const bool python = is_python_kernel(kernel.kind);
      std::vector<std::vector<StoryStep>> lists;
      lists.push_back(python ? python_device_story(kernel, sources).steps
                             : device_story(facts, kernel, launcher, sources).steps);
      if (launcher != nullptr) {
        const HostContext host{facts, sources, parameters, &kernel, launcher};
        lists.push_back(launch_story(host, 34).steps);
      }
      const Integration around =
          integration_of(facts, kernel.callers, kernel.way_up, &kernel, sources);
      lists.push_back(around.callers);
      lists.push_back(around.how_often);
      lists.push_back(around.overlapped);
      for (const std::vector<StoryStep>& steps : lists) {
        steps_told += count_steps(steps);
        const std::string ours = story_list(facts, steps);
        const std::string other = story_list(facts, steps, std::nullopt, swapped);
        EXPECT_EQ(steps.empty(), ours == other) << kernel.name;
        EXPECT_EQ(Skeleton(WordTable::built_in()).of(facts, steps),
                  Skeleton(swapped).of(facts, steps))
            << entry.path() << ' ' << kernel.name;
      }
    }
  }
  EXPECT_GT(steps_told, 400u);
}

}  // namespace
}  // namespace fathom
