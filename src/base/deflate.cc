#include "base/deflate.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>

#include "base/check.h"

namespace fathom {

Deflater::Deflater() : stream_(std::make_unique<isal_zstream>()) {
  // The level stays 0, here and in ZipWriter: what levels 1 and 2 of ISA-L 2.30 make depends on the
  // address of the stream for one text in 500, and a report must be the same each time. They make
  // pages a tenth smaller; level 3, which does not vary either, takes four times as long.
  isal_deflate_init(stream_.get());
}
Deflater::~Deflater() = default;

std::string Deflater::deflated(std::string_view bytes) {
  constexpr size_t kMostAtOnce = size_t{1} << 30;  // igzip counts in 32 bits
  isal_deflate_reset(stream_.get());
  std::string out(bytes.size() / 3 + 1024, '\0');
  size_t made = 0;
  do {
    const size_t n = std::min(bytes.size(), kMostAtOnce);
    stream_->next_in = const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(bytes.data()));
    stream_->avail_in = static_cast<uint32_t>(n);
    bytes.remove_prefix(n);
    stream_->end_of_stream = bytes.empty();
    for (;;) {
      if (made == out.size()) out.resize(out.size() * 2);
      const size_t room = std::min(out.size() - made, kMostAtOnce);
      stream_->next_out = reinterpret_cast<uint8_t*>(out.data()) + made;
      stream_->avail_out = static_cast<uint32_t>(room);
      CHECK(isal_deflate(stream_.get()) == COMP_OK);
      made += room - stream_->avail_out;
      const bool is_done = stream_->end_of_stream != 0
                               ? stream_->internal_state.state == ZSTATE_END
                               : stream_->avail_in == 0 && stream_->avail_out > 0;
      if (is_done) break;
    }
  } while (!bytes.empty());
  out.resize(made);
  return out;
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
