#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/tokens.h"

namespace fathom::cpp {

enum class ReferenceKind : uint8_t {
  kCall,    // name(…)
  kMember,  // object.name(…)
  kType,    // a type's or alias's name, with template arguments or as what an alias stands for
  kPassed   // a function that a template is given: block_reduce<warp_sum>(x)
};

// A name that code uses, template arguments left out.
struct Reference {
  std::string name;  // "warp::copy"; of a member call the method alone
  std::string type;  // kMember: the object's type as it was declared; empty: not seen
  ReferenceKind kind = ReferenceKind::kCall;
  uint32_t line = 0;
  // Its template arguments that are names themselves, "" for each other: what a template's
  // parameters may stand for.
  std::vector<std::string> arguments = {};
};

// What the tokens from `first` to before `last` use, each name once. `parameters` is the text of
// the function's parameter list and declares objects too.
std::vector<Reference> find_references(const TokenList& source, size_t first, size_t last,
                                       std::string_view parameters = {});
// All types that an alias's text names, also those without template arguments.
std::vector<Reference> find_type_references(const TokenList& source, size_t first, size_t last);
// The same of the text of template parameters, whose defaults may call.
std::vector<Reference> find_default_references(std::string_view template_parameters, uint32_t line);

// "T" and "kUnit" of "typename T, int kUnit = 4", with or without template<> around them.
std::vector<std::string> template_parameter_names(std::string_view template_parameters);

}  // namespace fathom::cpp
