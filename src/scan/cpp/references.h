#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scan/cpp/expressions.h"

namespace fathom::cpp {

enum class ReferenceKind : uint8_t {
  kCall,    // name(…)
  kMember,  // object.name(…)
  kType,    // a type's or alias's name, with template arguments or as what an alias stands for
  kMade,    // the same, where it declares an object that its constructor makes: `Run run;`
  kPassed   // a function that a template is given: block_reduce<warp_sum>(x)
};

// A name that code uses, template arguments left out.
struct Reference {
  std::string name;  // "warp::copy"; of a member call the method alone
  // kMember: the class that the object is declared with; "f()": what a call of f makes, which may
  // be a class's name; ".x": an object that the code does not declare; empty: the result of an
  // expression. "x[]" is an element of x.
  std::string type;
  ReferenceKind kind = ReferenceKind::kCall;
  uint32_t line = 0;
  // Its template arguments that are names themselves, "" for each other: what a template's
  // parameters may stand for.
  std::vector<std::string> arguments = {};
};

// What the tokens of a range use, in order. `parameters` is the text of the function's parameter
// list and declares objects too.
std::vector<Reference> find_references(const Code& code, Range range,
                                       std::string_view parameters = {});
// The same of a text that stands on one line.
std::vector<Reference> find_references(std::string_view text, uint32_t line,
                                       std::string_view parameters = {});
// All types that an alias's text names, also those without template arguments.
std::vector<Reference> find_type_references(const Code& code, Range range);

// The class that a type is about: "Model" of std::unique_ptr<Model>, "Layer[]" of vector<Layer*>.
std::string class_in(const Code& code, const Path& type);

// "T" and "kUnit" of "typename T, int kUnit = 4", with or without template<> around them.
std::vector<std::string> template_parameter_names(std::string_view template_parameters);

}  // namespace fathom::cpp
