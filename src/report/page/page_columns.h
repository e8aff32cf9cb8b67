#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/deflate.h"

// How the events of a timeline lie in a report page. A row holds events that do not overlap, in the
// order of time, in chunks that the page decodes when it shows them. web/src/data/columns.ts is the
// reader. A chunk is compressed, and base64 within the page:
//
//   eight columns, each with its length in bytes before it (uint32, little-endian):
//   start     after the start of the event before it; of the first, after the timeline's begin
//   duration
//   name      number of a text
//   category  a byte each
//   info      number of a text + 1; 0: none
//   op        row of the page's ops + 1; 0: none
//   link      number of the event at the other end + 1, after the link before it; 0: none
//   uid       + 1, after the uid before it; 0: none
//
// Numbers are LEB128; link and uid are zigzag.
namespace fathom {

struct PageEvent {
  int64_t start = 0, duration = 0;  // ns after the timeline's begin; not negative
  int64_t link = 0, uid = 0;        // each + 1; 0: none
  uint32_t name = 0, info = 0, op = 0;
  uint8_t category = 0;
};

// Base64 texts one after the other, which places are numbers of characters in.
class PageBlocks {
 public:
  struct Place {
    size_t offset = 0, length = 0;
  };
  Place add(std::string_view bytes);
  std::string take() { return std::move(text_); }

 private:
  Deflater deflater_;
  std::string text_;
};

struct PageChunk {
  size_t events = 0;
  int64_t begin = 0, end = 0;
  PageBlocks::Place place;
};

// What a selection decodes is a chunk of each row of its stack: small ones keep it under a frame.
inline constexpr size_t kChunkEvents = 8192;
// The chunks of a row's events, which are in the order of time and do not overlap.
std::vector<PageChunk> add_row(PageBlocks& blocks, std::span<const PageEvent> events);

// How a row looks from afar: for each of so many equal parts of the timeline how full it is (0 to
// 255, at least 1 where an event touches it), then for each the category that fills most of it.
inline constexpr size_t kOverviewParts = 4096;
std::string row_overview(std::span<const PageEvent> events, int64_t length);

}  // namespace fathom
