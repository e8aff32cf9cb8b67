#pragma once

#include <optional>
#include <string>

namespace fathom {

// Why a text is no probe; nothing where it is one. Python: `module:Class.function(batch.size,
// len(result))`. C and C++: `libfoo.so:symbol`, `c:ns::Class::method`.
std::optional<std::string> probe_mistake(const std::string& probe);

}  // namespace fathom
