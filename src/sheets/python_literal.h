#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// A JSON value as Python prints it, lists as tuples: [[768],["a"]] is ((768,), ('a',)). Cells of
// the known report are written this way, and notebooks join on them; its family sheets have lists.
enum class ListsAs : bool { kTuples, kLists };
std::string python_literal(std::string_view json, ListsAs lists = ListsAs::kTuples);

// ['a', 'b']
std::string python_list(const std::vector<std::string>& texts);

}  // namespace fathom
