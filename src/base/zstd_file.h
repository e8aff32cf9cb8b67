#pragma once

#include <filesystem>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/result.h"

struct ZSTD_CCtx_s;

namespace fathom {

// A file that is compressed as it is written.
class ZstdFile {
 public:
  // Makes the file, or empties it; `shown` is what the user calls it.
  static Result<ZstdFile> create(const std::filesystem::path& path,
                                 const std::filesystem::path& shown);
  ZstdFile(ZstdFile&& other) noexcept;
  ZstdFile& operator=(ZstdFile&&) = delete;
  ~ZstdFile();

  Status write(std::string_view bytes);
  // Everything is in the file.
  Status finish();
  int64_t size() const { return size_; }

 private:
  ZstdFile(FileDescriptor file, ZSTD_CCtx_s* context, std::string shown);
  Status compress(std::string_view bytes, bool last);

  FileDescriptor file_;
  ZSTD_CCtx_s* context_;
  std::string shown_;
  int64_t size_ = 0;
};

}  // namespace fathom
