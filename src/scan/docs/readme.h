#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "scan/files/repository.h"

namespace fathom {

// A line of Markdown or HTML as plain text: links by their text, no images, tags or emphasis.
std::string plain_text(std::string_view line);

// Title, first paragraph and headings of a README in Markdown or reStructuredText, as plain text.
// `file` is left to the caller.
ReadmeFacts read_readme(std::string_view text);

// Of the README at the repository's root; nothing where it has none.
std::optional<ReadmeFacts> find_readme(const Repository& repository);

}  // namespace fathom
