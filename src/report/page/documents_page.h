#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/table.h"
#include "base/units.h"

namespace fathom {

// One bar of a picture: how long something took, by parts that add up.
struct PageBar {
  struct Part {
    std::string key;  // of a colour: web/src/data/categories.ts
    std::string label;
    Nanos time;
  };
  std::string name;
  std::vector<Part> parts;
};

// A report that is written as Markdown, as one page for a browser.
struct DocumentsPage {
  struct File {
    std::string path, text;  // Markdown, or SVG
  };
  std::string kind;  // the command: "scan"
  std::string title, headline;
  std::vector<File> documents;  // the first is shown first
  std::vector<File> pictures;   // that documents refer to
  std::vector<Table> tables;
  std::vector<PageBar> bars;
};

// report.html. Of large reports it has the first documents, up to some megabytes, and says how many
// more there are.
std::string documents_page(const DocumentsPage& page);

}  // namespace fathom
