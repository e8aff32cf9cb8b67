#pragma once

#include <optional>
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

// Two runs drawn over each other: how busy the GPUs were over a step, and what took how long.
struct PageOverlay {
  struct Side {
    std::string name;
    Nanos length;
    std::vector<double> busy;  // share of each part of the time
  };
  struct Pair {
    std::string name;
    double a_ns = 0, b_ns = 0;  // per step where there are steps
  };
  Side a, b;
  Nanos part;        // of the time
  std::string unit;  // "per step"; empty: in all
  std::vector<Pair> categories, ops;
};

// A ladder of steps: where a bar begins and ends, in seconds.
struct PageLadder {
  enum class Kind : uint8_t { kWhole, kBetter, kWorse, kNotKept, kResult, kFloor };
  struct Step {
    std::string name, words;
    double from = 0, to = 0;
    Kind kind = Kind::kWhole;
  };
  std::string title;
  std::vector<Step> steps;
};

// A kernel that a scan found, with the first lines of its source.
struct PageKernel {
  std::string name, scope, kind;
  std::string file;
  uint32_t line = 0, lines = 0;
  bool dead = false;
  std::vector<std::string> launches, path, techniques;  // in words, each with its place
  std::string excerpt;                                  // empty: it could not be read
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
  std::optional<PageOverlay> overlay = {};
  std::optional<PageLadder> ladder = {};
  std::vector<PageKernel> kernels = {};
  size_t kernels_left_out = 0;
};

// report.html. Of large reports it has the first documents, up to some megabytes, and says how many
// more there are.
std::string documents_page(const DocumentsPage& page);

}  // namespace fathom
