#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "scan/facts/code_names.h"
#include "scan/index/reach.h"

namespace fathom::cpp {

// "copy" of "device::warp::copy", and "device::warp".
std::string_view qualifier_of(std::string_view path);

// What a name in a unit means. Overloads, and definitions in different #if branches, have one
// qualified name and are taken together.
class NameResolver {
 public:
  // `work` is how many names and candidates it looks at before everything is unknown: names that
  // stand for one another many times over would take for ever.
  NameResolver(const CallGraph& graph, size_t work) : graph_(graph), work_left_(work) {}

  CallGraph::Meaning meaning(uint32_t unit, const CallGraph::Use& use) const;
  bool exhausted() const { return work_left_ == 0; }
  // Whether there is work left after this much.
  bool spend(size_t work) const;

 private:
  using Found = CallGraph::Found;
  using Meaning = CallGraph::Meaning;

  Meaning call(uint32_t unit, std::string_view path) const;
  Meaning plain_call(uint32_t unit, std::string_view name) const;
  Meaning plain_function(uint32_t unit, std::string_view name) const;
  Meaning member(uint32_t unit, std::string_view method, std::string_view type) const;
  Meaning type(uint32_t unit, std::string_view path) const;
  // Whether an alias or class can be meant by a type's name in a unit.
  bool type_fits(uint32_t unit, uint32_t candidate, std::string_view qualifier) const;
  Meaning method_of(uint32_t unit, std::string_view type, std::string_view method) const;

  std::vector<Found> methods_of_like_named(uint32_t unit, std::string_view parameter,
                                           std::string_view method) const;

  bool is_only_fitting_class(const std::vector<Found>& classes,
                             const std::vector<Found>& methods) const;

  // The classes that a type's name can stand for, through aliases. For a template parameter it is a
  // guess: the arguments that files which include the unit's give, else aliases of its name there.
  std::vector<Found> classes_of(uint32_t unit, std::string_view type, int depth = 0) const;
  std::vector<Found> classes_of_alias(uint32_t alias, int depth) const;
  std::vector<Found> classes_of_parameter(uint32_t unit, std::string_view name, int depth) const;

  std::vector<Found> classes_of_arguments(uint32_t unit, std::string_view name, int depth) const;
  std::vector<Found> classes_of_namesakes(uint32_t unit, std::string_view name, int depth) const;
  // The template parameter that a type is or stands for; empty: none.
  std::string_view parameter_behind(uint32_t unit, std::string_view type) const;

  enum class Reachable : uint8_t { kAnywhere, kInContext };
  // Of candidates the nearest ones: in files that the unit sees, in its namespaces.
  Meaning choose(uint32_t unit, const std::vector<uint32_t>& candidates, Reachable reachable) const;
  bool is_function(uint32_t unit) const;
  // The units of a name; none where there is no work left for them.
  const std::vector<uint32_t>& named(std::string_view name) const;

  const CallGraph& graph_;
  mutable size_t work_left_;
};

}  // namespace fathom::cpp
