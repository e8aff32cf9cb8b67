#include "base/deflate.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>

#include "base/check.h"

namespace fathom {
namespace {

std::string deflate_part(isal_zstream& stream, std::string_view bytes, bool last) {
  constexpr size_t kMostAtOnce = size_t{1} << 30;  // igzip counts in 32 bits
  std::string out(bytes.size() / 3 + 1024, '\0');
  size_t made = 0;
  do {
    const size_t n = std::min(bytes.size(), kMostAtOnce);
    stream.next_in = const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(bytes.data()));
    stream.avail_in = static_cast<uint32_t>(n);
    bytes.remove_prefix(n);
    stream.end_of_stream = last && bytes.empty();
    for (;;) {
      if (made == out.size()) out.resize(out.size() * 2);
      const size_t room = std::min(out.size() - made, kMostAtOnce);
      stream.next_out = reinterpret_cast<uint8_t*>(out.data()) + made;
      stream.avail_out = static_cast<uint32_t>(room);
      CHECK(isal_deflate(&stream) == COMP_OK);
      made += room - stream.avail_out;
      const bool is_done = stream.end_of_stream != 0 ? stream.internal_state.state == ZSTATE_END
                                                     : stream.avail_in == 0 && stream.avail_out > 0;
      if (is_done) break;
    }
  } while (!bytes.empty());
  out.resize(made);
  return out;
}

}  // namespace

Deflater::Deflater() : stream_(std::make_unique<isal_zstream>()) {
  // The level stays 0, here and in ZipWriter: what levels 1 and 2 of ISA-L 2.30 make depends on the
  // address of the stream for one text in 500, and a report must be the same each time. They make
  // pages a tenth smaller; level 3, which does not vary either, takes four times as long.
  isal_deflate_init(stream_.get());
}
Deflater::~Deflater() = default;

std::string Deflater::deflated(std::string_view bytes) {
  isal_deflate_reset(stream_.get());
  return deflate_part(*stream_, bytes, true);
}

GzipStream::GzipStream() : stream_(std::make_unique<isal_zstream>()) {
  isal_deflate_init(stream_.get());
  stream_->gzip_flag = IGZIP_GZIP;
}
GzipStream::~GzipStream() = default;

std::string GzipStream::compressed(std::string_view part, bool last) {
  return deflate_part(*stream_, part, last);
}

void append_base64(std::string& out, std::string_view bytes) {
  static constexpr char kLetters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const size_t before = out.size();
  out.resize(before + (bytes.size() + 2) / 3 * 4);
  char* to = out.data() + before;
  const auto* from = reinterpret_cast<const uint8_t*>(bytes.data());
  const auto* const end = from + bytes.size();
  for (; end - from >= 3; from += 3, to += 4) {
    const uint32_t three = uint32_t{from[0]} << 16 | uint32_t{from[1]} << 8 | from[2];
    to[0] = kLetters[three >> 18];
    to[1] = kLetters[three >> 12 & 63];
    to[2] = kLetters[three >> 6 & 63];
    to[3] = kLetters[three & 63];
  }
  const auto left = end - from;
  if (left == 0) return;
  const uint32_t rest = uint32_t{from[0]} << 16 | (left == 2 ? uint32_t{from[1]} << 8 : 0U);
  to[0] = kLetters[rest >> 18];
  to[1] = kLetters[rest >> 12 & 63];
  to[2] = left == 2 ? kLetters[rest >> 6 & 63] : '=';
  to[3] = '=';
}

}  // namespace fathom
