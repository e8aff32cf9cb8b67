#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace fathom {

// A file's bytes, read where they lie. They stay as they are while the object lives, even when the
// file is replaced by rename.
class MappedFile {
 public:
  // Null where there is nothing to map or no room for it.
  static std::shared_ptr<const MappedFile> map(int fd);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  MappedFile(const std::byte* data, size_t size) : data_(data), size_(size) {}

  const std::byte* data_;
  size_t size_;
};

}  // namespace fathom
