#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"

namespace fathom {

// Bytes in order, pulled in pieces. Compression is undone on the way.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Fills the span as far as possible; fewer bytes than asked for, or 0, means the end.
  virtual Result<size_t> read(std::span<char> into) = 0;
  // The input broke off (a cut gzip member, say): what was read is what there is.
  virtual bool truncated() const { return false; }
  // Somebody wrote to the file since it was opened.
  virtual bool changed() const { return false; }
  // 0 to 1 of the input consumed, or negative where it is not known (a pipe).
  virtual double progress() const { return -1; }
};

class ReadingStamp;

// "-" is standard input. gzip and zstd are known by their first bytes, not by the name. The stamp,
// if any, is of the file's own bytes and known once the source is gone.
Result<std::unique_ptr<ByteSource>> open_source(const std::string& path,
                                                ReadingStamp* stamp = nullptr);

}  // namespace fathom
