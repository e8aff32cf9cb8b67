#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "scan/files/repository.h"

namespace fathom {

// A line of Markdown or HTML as plain text: links by their text, no images, tags or emphasis.
std::string plain_text(std::string_view line);

// Title, first paragraph and headings of a README in Markdown or reStructuredText, as plain text.
// `file` is left to the caller. `introduces` is set to whether the paragraph stands where a README
// says what the project is.
ReadmeFacts read_readme(std::string_view text, bool* introduces = nullptr);

// Of the README at the repository's root; nothing where it has none. Where it does not say what the
// project is, the description of a manifest beside it does.
std::optional<ReadmeFacts> find_readme(const Repository& repository);

}  // namespace fathom
