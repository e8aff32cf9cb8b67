#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/goal.h"
#include "plan/goal_meanings.h"

namespace fathom {

// What a goal's words name in the facts of a repository. Each gives whether it found any.
class GoalSubjects {
 public:
  GoalSubjects(const CodeFacts& facts, ReadGoal& out) : facts_(facts), out_(out) {}

  // A name, as --page-size or page-size.
  bool add_option(const std::string& token);
  // The options of that name get the numbers, and before a change their default.
  bool add_option_numbers(const std::string& wanted, const std::vector<std::string>& numbers,
                          const std::string& said, bool is_change);
  // "batch sizes" of a program with --batch: what a comparison varies.
  bool add_size_option(std::string word);
  // "flashinfer" where an option has the choices flashinfer and fa3.
  bool add_option_value(const std::string& token);
  // `whole_name`: of a kernel, of its file or of one that launches it; else also a part of them.
  bool add_kernels(const std::string& token, bool whole_name);
  bool add_entry(const std::string& token);
  void add_targets(const Meaning& meaning, const std::string& words);
  void add_target(std::string_view kind, std::string_view id, const std::string& words,
                  bool only_meaning);
  void add_subject(GoalSubject subject);

 private:
  bool add_kernels_of_path(const std::string& words);
  // Whether the file is called so; with `folded`, after both names went through it.
  using Folded = std::string (*)(std::string);
  bool is_file(uint32_t position, const std::string& wanted, Folded folded = nullptr) const;
  void add_feature(std::string_view id, const std::string& words, bool only_meaning);

  const CodeFacts& facts_;
  ReadGoal& out_;
};

}  // namespace fathom
