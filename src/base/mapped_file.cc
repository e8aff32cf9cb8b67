#include "base/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>

namespace fathom {

std::shared_ptr<const MappedFile> MappedFile::map(int fd) {
  struct stat status = {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) return nullptr;
  const auto size = static_cast<size_t>(status.st_size);
  // Populated at once: one call costs less than a fault for each page.
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
  if (data == MAP_FAILED) return nullptr;
  return std::shared_ptr<const MappedFile>(
      new MappedFile(static_cast<const std::byte*>(data), size));
}

MappedFile::~MappedFile() { munmap(const_cast<std::byte*>(data_), size_); }

}  // namespace fathom
