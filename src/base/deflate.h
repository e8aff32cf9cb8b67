#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct isal_zstream;  // NOLINT(readability-identifier-naming): ISA-L's

namespace fathom {

// Compresses texts one after the other, with the same memory: it has some hundred kilobytes.
class Deflater {
 public:
  Deflater();
  ~Deflater();
  Deflater(Deflater&&) = delete;

  // Without a header or a checksum: what browsers call "deflate-raw".
  std::string deflated(std::string_view bytes);

 private:
  std::unique_ptr<isal_zstream> stream_;
  std::vector<uint8_t> memory_;
};

// The alphabet of RFC 4648, padded.
void append_base64(std::string& out, std::string_view bytes);

}  // namespace fathom
