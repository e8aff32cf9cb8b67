#include "base/zstd_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace fathom {

Result<ZstdFile> ZstdFile::create(const std::filesystem::path& path,
                                  const std::filesystem::path& shown) {
  FileDescriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.ok())
    return Error{fmt::format("cannot write {}: {}", shown.string(), std::strerror(errno))};
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (context == nullptr) return Error{"out of memory"};
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, 9);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  return ZstdFile(std::move(file), context, shown.string());
}

ZstdFile::ZstdFile(FileDescriptor file, ZSTD_CCtx_s* context, std::string shown)
    : file_(std::move(file)), context_(context), shown_(std::move(shown)) {}

ZstdFile::ZstdFile(ZstdFile&& other) noexcept
    : file_(std::move(other.file_)),
      context_(std::exchange(other.context_, nullptr)),
      shown_(std::move(other.shown_)),
      size_(other.size_) {}

ZstdFile::~ZstdFile() { ZSTD_freeCCtx(context_); }

Status ZstdFile::compress(std::string_view bytes, bool last) {
  std::vector<char> out(ZSTD_CStreamOutSize());
  ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
  while (true) {
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const size_t left =
        ZSTD_compressStream2(context_, &output, &input, last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left))
      return Error{fmt::format("cannot write {}: {}", shown_, ZSTD_getErrorName(left))};
    size_t done = 0;
    while (done < output.pos) {
      const ssize_t wrote = ::write(file_.get(), out.data() + done, output.pos - done);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0)
        return Error{fmt::format("cannot write {}: {}", shown_, std::strerror(errno))};
      done += static_cast<size_t>(wrote);
    }
    size_ += static_cast<int64_t>(output.pos);
    if (last ? left == 0 : input.pos == input.size) return Nothing{};
  }
}

Status ZstdFile::write(std::string_view bytes) { return compress(bytes, false); }

Status ZstdFile::finish() { return compress({}, true); }

}  // namespace fathom
