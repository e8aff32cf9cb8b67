#include "base/compressed_source.h"

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace fathom {
namespace {

constexpr size_t kInputBuffer = 256 * 1024;
constexpr size_t kMagicSize = 4;  // a member or frame is known by its first bytes: never split them

// What gzip and zstd share: compressed bytes waiting to be decoded, refilled as they are used up.
class CompressedSource : public ByteSource {
 public:
  explicit CompressedSource(std::unique_ptr<ByteSource> compressed)
      : compressed_(std::move(compressed)), input_(kInputBuffer) {}

  Result<size_t> read(std::span<char> into) override {
    size_t done = 0;
    while (done < into.size() && !finished_) {
      if (end_ - begin_ < kMagicSize && !input_ended_) TRY(refill());
      done += TRY(decode(into.subspan(done)));
    }
    return done;
  }

  bool truncated() const override { return truncated_; }
  bool changed() const override { return compressed_->changed(); }
  double progress() const override { return compressed_->progress(); }

 protected:
  // Decodes from the waiting input; must make progress or set finished_.
  virtual Result<size_t> decode(std::span<char> into) = 0;

  std::span<const char> waiting() const { return {input_.data() + begin_, end_ - begin_}; }
  void used(size_t n) { begin_ += n; }
  void stop(bool truncated) {
    finished_ = true;
    truncated_ = truncated;
  }
  bool input_ended() const { return input_ended_ && begin_ == end_; }

 private:
  Status refill() {
    std::memmove(input_.data(), input_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    end_ += TRY(compressed_->read({input_.data() + end_, input_.size() - end_}));
    input_ended_ = end_ < input_.size();
    return Nothing{};
  }

  std::unique_ptr<ByteSource> compressed_;
  std::vector<char> input_;
  size_t begin_ = 0, end_ = 0;
  bool input_ended_ = false, finished_ = false, truncated_ = false;
};

class GzipSource : public CompressedSource {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> compressed)
      : CompressedSource(std::move(compressed)) {
    start_member();
  }

 protected:
  Result<size_t> decode(std::span<char> into) override {
    if (state_->block_state == ISAL_BLOCK_FINISH && !find_member()) return size_t{0};
    const std::span<const char> input = waiting();
    state_->next_in = reinterpret_cast<uint8_t*>(const_cast<char*>(input.data()));
    state_->avail_in = static_cast<uint32_t>(input.size());
    state_->next_out = reinterpret_cast<uint8_t*>(into.data());
    state_->avail_out = static_cast<uint32_t>(std::min<size_t>(into.size(), UINT32_MAX));
    const uint32_t asked = state_->avail_out;
    const int code = isal_inflate(state_.get());
    used(input.size() - state_->avail_in);
    const size_t produced = asked - state_->avail_out;
    // Damage in the middle ends the stream here: the bytes before it are good.
    if (code != ISAL_DECOMP_OK && code != ISAL_END_INPUT) stop(true);
    if (produced == 0 && input_ended() && state_->block_state != ISAL_BLOCK_FINISH) stop(true);
    return produced;
  }

 private:
  // A file may hold several members one after the other, and zeros fill its last block. Anything
  // else is a member whose first bytes are damaged.
  bool find_member() {
    const std::span<const char> rest = waiting();
    const auto zeros = static_cast<size_t>(
        std::ranges::find_if(rest, [](char c) { return c != 0; }) - rest.begin());
    used(zeros);
    if (zeros > 0 && !input_ended()) return false;
    if (zeros < rest.size() && looks_like_gzip(rest)) {
      start_member();
      return true;
    }
    stop(zeros < rest.size());
    return false;
  }

  void start_member() {
    isal_inflate_init(state_.get());
    state_->crc_flag = IGZIP_GZIP;
  }

  std::unique_ptr<inflate_state> state_ = std::make_unique<inflate_state>();
};

class ZstdSource : public CompressedSource {
 public:
  explicit ZstdSource(std::unique_ptr<ByteSource> compressed)
      : CompressedSource(std::move(compressed)), stream_(ZSTD_createDStream()) {
    // As large a window as there is: memory is taken as the text comes, not as a frame declares.
    // is_out_of_proportion() bounds what comes.
    if (stream_ != nullptr) {
      ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax,
                             ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound);
    }
  }
  ~ZstdSource() override { ZSTD_freeDStream(stream_); }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;

 protected:
  Result<size_t> decode(std::span<char> into) override {
    if (stream_ == nullptr) return Error{"out of memory for zstd"};
    // A call that fails does not say what it wrote before. Little is asked for at once, and what is
    // left of the zeros tells: no JSON holds one.
    into = into.first(std::min(into.size(), kAtOnce));
    std::memset(into.data(), 0, into.size());
    const std::span<const char> input = waiting();
    ZSTD_inBuffer in{input.data(), input.size(), 0};
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    const size_t code = ZSTD_decompressStream(stream_, &out, &in);
    if (ZSTD_isError(code)) {
      const ZSTD_ErrorCode error = ZSTD_getErrorCode(code);
      if (error == ZSTD_error_memory_allocation ||
          error == ZSTD_error_frameParameter_windowTooLarge) {
        return Error{fmt::format(
            "its zstd window is too large ({}); unpack it with zstd -d --long=31 and try again",
            ZSTD_getErrorName(code))};
      }
      if (error == ZSTD_error_dictionary_wrong) {
        return Error{
            "it is compressed with a zstd dictionary; unpack it with zstd -d -D DICTIONARY"};
      }
      stop(true);
      const char* const written = into.data() + out.pos;
      const auto* const end = static_cast<const char*>(
          std::memchr(written, 0, static_cast<size_t>(into.data() + into.size() - written)));
      return static_cast<size_t>((end == nullptr ? into.data() + into.size() : end) - into.data());
    }
    used(in.pos);
    bytes_in_ += in.pos;
    bytes_out_ += out.pos;
    if (is_out_of_proportion()) {
      return Error{
          fmt::format("its zstd window takes {} MB of memory for {} kB of file; unpack it with "
                      "zstd -d --long=31 "
                      "and try again",
                      bytes_out_ >> 20, bytes_in_ >> 10)};
    }
    if (in.pos > 0 || out.pos > 0) {
      frame_complete_ = code == 0;
    } else if (input_ended()) {
      stop(!frame_complete_);
    }
    return out.pos;
  }

 private:
  static constexpr size_t kAtOnce = 64 * 1024;

  // A window over the 128 MB that zstd itself unpacks unasked fills with the text. Memory stays
  // linear in the file: no trace shrinks to a 256th.
  bool is_out_of_proportion() const {
    constexpr size_t kLargestUnasked = 140 << 20, kMostTimes = 256;
    return bytes_out_ > kLargestUnasked && bytes_out_ / kMostTimes > bytes_in_ &&
           ZSTD_sizeof_DStream(stream_) > kLargestUnasked;
  }

  bool frame_complete_ = true;
  size_t bytes_in_ = 0, bytes_out_ = 0;
  ZSTD_DStream* stream_;
};

bool starts_with(std::span<const char> bytes, std::initializer_list<unsigned char> magic) {
  if (bytes.size() < magic.size()) return false;
  size_t i = 0;
  for (unsigned char m : magic) {
    if (static_cast<unsigned char>(bytes[i++]) != m) return false;
  }
  return true;
}

}  // namespace

bool looks_like_gzip(std::span<const char> first_bytes) {
  return starts_with(first_bytes, {0x1f, 0x8b});
}
bool looks_like_zstd(std::span<const char> first_bytes) {
  // pzstd begins with a skippable frame, one of sixteen kinds.
  const bool skippable = first_bytes.size() >= kMagicSize && (first_bytes[0] & 0xf0) == 0x50 &&
                         starts_with(first_bytes.subspan(1), {0x2a, 0x4d, 0x18});
  return skippable || starts_with(first_bytes, {0x28, 0xb5, 0x2f, 0xfd});
}

std::unique_ptr<ByteSource> gunzip(std::unique_ptr<ByteSource> compressed) {
  return std::make_unique<GzipSource>(std::move(compressed));
}
std::unique_ptr<ByteSource> unzstd(std::unique_ptr<ByteSource> compressed) {
  return std::make_unique<ZstdSource>(std::move(compressed));
}

}  // namespace fathom
