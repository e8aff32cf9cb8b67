#pragma once

#include <memory>
#include <string>
#include <string_view>

struct isal_zstream;  // NOLINT(readability-identifier-naming): ISA-L's

namespace fathom {

// Compresses texts one after the other, with the same memory: it has some hundred kilobytes. What
// comes out depends on the text alone.
class Deflater {
 public:
  Deflater();
  ~Deflater();
  Deflater(Deflater&&) = delete;

  // Without a header or a checksum: what browsers call "deflate-raw".
  std::string deflated(std::string_view bytes);

 private:
  std::unique_ptr<isal_zstream> stream_;
};

// One gzip file, compressed part by part.
class GzipStream {
 public:
  GzipStream();
  ~GzipStream();
  GzipStream(GzipStream&&) = delete;

  // What there is to write after this part; after the last one the file is complete.
  std::string compressed(std::string_view part, bool last);

 private:
  std::unique_ptr<isal_zstream> stream_;
};

// The alphabet of RFC 4648, padded.
void append_base64(std::string& out, std::string_view bytes);

}  // namespace fathom
