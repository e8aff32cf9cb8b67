#pragma once

#include <string>
#include <string_view>

namespace fathom {

// What a report page shows (web/): facts as JSON, and the events of a timeline where it has one
// (page_columns.h). Both are put into the page as base64, so no text of a trace or a repository is
// ever HTML.
struct PageContent {
  std::string facts;
  std::string blocks;
};

// One file that needs nothing else: the page of web/dist with the content in it.
std::string html_page(const PageContent& content);

}  // namespace fathom
