#include "base/content_stamp.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/file_descriptor.h"

namespace fathom {
namespace {

constexpr size_t kBuffer = size_t{1} << 20;

bool same_time(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

// Up to so many bytes from where the file is; false where reading failed.
bool hash_rest(int fd, uint64_t most, ContentHash& hash) {
  std::string buffer(kBuffer, '\0');
  while (most > 0) {
    const ssize_t got = read(fd, buffer.data(), std::min<uint64_t>(buffer.size(), most));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    if (got == 0) break;
    hash.add(std::string_view(buffer.data(), static_cast<size_t>(got)));
    most -= static_cast<uint64_t>(got);
  }
  return true;
}

}  // namespace

std::optional<ContentStamp> stamp_of(const std::filesystem::path& path) {
  // Looks first: a FIFO opened and closed again would end whoever writes to it.
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  ContentHash hash;
  if (!file.ok() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      !hash_rest(file.get(), UINT64_MAX, hash)) {
    return {};
  }
  return ContentStamp{hash.size(), hash.value()};
}

void ReadingStamp::begin(int fd) {
  if (fstat(fd, &before_) != 0) before_ = {};
}

void ReadingStamp::end(int fd) {
  struct stat after = {};
  const auto size = static_cast<uint64_t>(before_.st_size);
  if (!S_ISREG(before_.st_mode) || hash_.size() > size || size - hash_.size() > kBuffer) return;
  if (!hash_rest(fd, kBuffer, hash_) || fstat(fd, &after) != 0 || hash_.size() != size) return;
  if (after.st_size != before_.st_size || !same_time(after.st_mtim, before_.st_mtim) ||
      !same_time(after.st_ctim, before_.st_ctim)) {
    return;
  }
  value_ = ContentStamp{hash_.size(), hash_.value()};
}

}  // namespace fathom
