#include "base/content_stamp.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "base/hash.h"

namespace fathom {
namespace {

constexpr uint64_t kBlock = 4096;
constexpr uint64_t kSamples = 16;

class OpenFile {
 public:
  // Looks first: a FIFO opened and closed again would end whoever writes to it.
  explicit OpenFile(const std::filesystem::path& path) {
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return;
    fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  }
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int fd() const { return fd_; }
  std::string_view read_at(uint64_t offset, std::vector<char>& buffer) const {
    const ssize_t got = pread(fd_, buffer.data(), buffer.size(), static_cast<off_t>(offset));
    return {buffer.data(), got > 0 ? static_cast<size_t>(got) : 0};
  }

 private:
  int fd_ = -1;
};

std::optional<ContentStamp> glance(const OpenFile& file) {
  struct stat status = {};
  if (file.fd() < 0 || fstat(file.fd(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  ContentStamp stamp;
  stamp.size = static_cast<uint64_t>(status.st_size);
  stamp.modified = int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
  std::vector<char> block(kBlock);
  const uint64_t last = stamp.size - std::min(stamp.size, kBlock);
  for (uint64_t i = 0; i <= kSamples; ++i) {
    stamp.sample = mix_bits(stamp.sample, hash_text(file.read_at(last / kSamples * i, block)));
  }
  stamp.sample = mix_bits(stamp.sample, hash_text(file.read_at(last, block)));
  return stamp;
}

}  // namespace

std::optional<ContentStamp> glance_at(const std::filesystem::path& path) {
  return glance(OpenFile(path));
}

std::optional<ContentStamp> stamp_of(const std::filesystem::path& path) {
  const OpenFile file(path);
  std::optional<ContentStamp> stamp = glance(file);
  if (!stamp) return {};
  std::vector<char> buffer(1 << 20);
  for (uint64_t offset = 0; offset < stamp->size; offset += buffer.size()) {
    stamp->content = mix_bits(stamp->content, hash_text(file.read_at(offset, buffer)));
  }
  return stamp;
}

}  // namespace fathom
