#pragma once

#include <string>
#include <vector>

#include "scan/python/outline.h"

namespace fathom::python {

// What the ways to declare options have in common.

// A literal list's items, strings as their content; anything else is one item, as written. The last
// of many is an ellipsis.
std::vector<std::string> choices_of(const Outline& outline, NodeId expression);
// A string's content, or the expression as written; empty for none.
std::string help_of(const Outline& outline, NodeId expression);
// "--model-path" → "model_path"
std::string destination(std::string_view option_name);
bool is_true(const Tree& tree, NodeId expression);
// The function that a call decorates; none: it is no decorator.
std::optional<uint32_t> decorated_function(const Outline& outline, NodeId call);
// type, default, choices, help, required, action and dest, as most declarations spell them.
void read_common_keywords(const Outline& outline, const CallArguments& arguments, Option& into);

}  // namespace fathom::python
