#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "scan/cpp/launch_calls.h"
#include "scan/cpp/launches.h"
#include "scan/cpp/macros.h"
#include "scan/cpp/name_sieve.h"

namespace fathom::cpp {

// Goes over a file once and reports each launch. Its methods stand in launches.cc (the walk and the
// calls of data/features/launch_calls.tsv), launch_macros.cc and launch_objects.cc (helpers).
class LaunchFinder {
 public:
  LaunchFinder(const Code& code, const Definitions& definitions, const KnownNames& known);
  std::vector<FoundLaunch> run();

 private:
  struct Word {
    const LaunchCall* call = nullptr;
    const LaunchHelper* helper = nullptr;
    bool macro = false;
  };
  // A variable of a launching class, and what it was constructed with.
  struct Object {
    const LaunchHelper* helper;
    std::vector<std::string> arguments;
    std::vector<LaunchAttribute> attributes;
  };
  // name<…>(…)
  struct Use {
    Path path;
    size_t open = 0, close = 0;  // its arguments' brackets
    std::vector<Range> arguments;
  };

  void collect_words();
  bool has_launch_words() const;
  const Word* word_at(const Code& code, size_t name) const;
  void enter(size_t index);
  void leave();
  // With the names of parameters, which are read only for those functions that launch something.
  const Surroundings& around();
  // Looks at one token and gives back the next to look at.
  size_t step(Place place, int depth);
  void report(const Place& place, Launch launch, KernelChoice choice, size_t first, size_t last);
  // A dispatching macro launches the same kernel many times with other template arguments.
  bool merged(const Launch& launch);
  void triple(const Place& place);
  static std::optional<Use> use_at(const Code& code, size_t name);
  bool call(const Place& place, const LaunchCall& row);
  void node(const Place& place, const LaunchCall& row);

  const Macro* find_macro(std::string_view name, uint32_t line,
                          std::optional<size_t> arguments) const;
  // Gives back the token after the use; 0: it is none.
  size_t macro_use(const Place& place, int depth);
  // The same for a macro that stands among another one's arguments.
  size_t handed_over(const Place& place, int depth);
  void read_expansion(const Place& place, std::string text, size_t end, int depth);

  size_t helper(const Place& place, const LaunchHelper& helper);
  size_t construct(const Place& place, const LaunchHelper& helper);
  size_t chain(const Place& place, Object& object, size_t i, size_t first);
  void launch_object(const Place& place, const Object& object, const std::vector<Range>& arguments,
                     size_t first, size_t last);
  void function_helper(const Place& place, const LaunchHelper& helper);
  KernelChoice choose_template_argument(const Place& place, Range argument);
  size_t class_template(const Place& place, const LaunchHelper& helper);

  const Code& code_;
  const Definitions& definitions_;
  const KnownNames& known_;
  std::unordered_map<std::string_view, Word> words_;
  NameSieve word_sieve_;
  MacroTable macros_, all_macros_;
  std::unique_ptr<Values> values_;
  Surroundings around_;
  KernelHandles handles_;
  std::vector<Branch> branches_;
  KernelConstants constants_;
  bool names_are_read_ = false;
  std::vector<const Class*> owners_;  // the classes around the function, outermost first
  size_t next_class_ = 0;
  std::optional<size_t> function_index_;
  std::map<std::string, Object, std::less<>> objects_;         // of macros' texts, too, which go
  std::optional<std::pair<uint32_t, uint32_t>> forced_lines_;  // of the macro's use being expanded
  size_t first_of_macro_ = 0;
  size_t searches_left_ = (256 << 10) + 64 * code_.source.size();     // tokens
  size_t expansions_left_ = expansions_of(code_.source.text.size());  // bytes
  std::vector<FoundLaunch> found_;
};

}  // namespace fathom::cpp
