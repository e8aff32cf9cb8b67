#pragma once

#include <string>
#include <string_view>

namespace fathom {

// A word as any POSIX shell reads it back; plain ones as they are, others as 'it'\''s'.
std::string shell_word(std::string_view word);

}  // namespace fathom
