#pragma once

#include <string_view>
#include <vector>

#include "scan/facts/code_names.h"
#include "scan/index/reach.h"

namespace fathom::cpp {

// What a use in code of the GPU means. Names are the index's; this adds what code of the GPU is
// made of: methods of objects whose class is a template parameter or an alias.
class NameResolver {
 public:
  // `work` is how many names and candidates it looks at before everything is unknown: names that
  // stand for one another many times over would take for ever.
  NameResolver(const CallGraph& graph, size_t work)
      : graph_(graph), index_(graph.index_), work_left_(work) {}

  CallGraph::Meaning meaning(SymbolId unit, const CallGraph::Use& use) const;
  bool exhausted() const { return work_left_ == 0; }
  // Whether there is work left after this much.
  bool spend(size_t work) const;

 private:
  using Found = CallGraph::Found;
  using Meaning = CallGraph::Meaning;

  Meaning call(SymbolId unit, std::string_view path) const;
  Meaning function(SymbolId unit, std::string_view path) const;
  Meaning member(SymbolId unit, std::string_view method, std::string_view type) const;
  Meaning type(SymbolId unit, std::string_view path) const;
  Meaning method_of(SymbolId unit, std::string_view type, std::string_view method) const;
  Meaning methods_of_like_named(SymbolId unit, std::string_view parameter,
                                std::string_view method) const;
  // The methods that a class has or inherits.
  const std::vector<SymbolId>& methods_in(SymbolId owner, std::string_view method) const;
  Meaning inherited(SymbolId unit, std::string_view method) const;
  bool is_only_fitting_class(const Meaning& classes, const Meaning& methods) const;

  // The classes that a type's name can stand for, through aliases. For a template parameter it is a
  // guess: the arguments that files which include the unit's give, else aliases of its name there.
  Meaning classes_of(SymbolId unit, std::string_view type, int depth = 0) const;
  Meaning classes_of_alias(SymbolId alias, int depth) const;
  Meaning classes_of_nested(SymbolId unit, std::string_view parameter, std::string_view name,
                            int depth) const;
  Meaning classes_of_parameter(SymbolId unit, std::string_view name, int depth) const;
  Meaning classes_of_arguments(SymbolId unit, std::string_view name, int depth) const;
  Meaning classes_of_namesakes(SymbolId unit, std::string_view name, int depth) const;
  // The template parameter that a type is or stands for; empty: none.
  std::string_view parameter_behind(SymbolId unit, std::string_view type) const;

  // What the index says a name means in a unit, as far as its scope fits and its file is seen.
  std::vector<Candidate> candidates(SymbolId unit, std::string_view path, SymbolKind kind) const;
  Meaning chosen(const std::vector<Candidate>& candidates, bool qualified) const;
  // The methods of a name, of all classes; none where there is no work left for them.
  std::vector<SymbolId> methods_named(std::string_view name) const;

  const CallGraph& graph_;
  const SymbolIndex& index_;
  mutable size_t work_left_;
};

}  // namespace fathom::cpp
