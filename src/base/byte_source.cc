#include "base/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/compressed_source.h"
#include "base/content_stamp.h"
#include "base/patient_source.h"

namespace fathom {
namespace {

constexpr size_t kHeadSize = 4;  // enough to know gzip and zstd

class FileSource : public ByteSource {
 public:
  FileSource(int fd, int64_t size, ReadingStamp* stamp) : fd_(fd), size_(size), stamp_(stamp) {
    if (fstat(fd_, &opened_) != 0) opened_ = {};
    if (stamp_ != nullptr) stamp_->begin(fd_);
  }
  ~FileSource() override {
    if (stamp_ != nullptr) stamp_->end(fd_);
    if (fd_ != STDIN_FILENO) close(fd_);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  // The first bytes, without consuming them: what they say decides who reads the rest.
  Result<std::span<const char>> peek() {
    head_size_ += TRY(read_fd(std::span(head_).subspan(head_size_)));
    return std::span<const char>(head_, head_size_);
  }

  // For a FIFO that was opened without blocking: false when nobody comes to write to it.
  bool await_writer(std::chrono::milliseconds patience) {
    constexpr int kPauseMillis = 100;
    pollfd fifo = {fd_, POLLIN, 0};
    for (int64_t waited = 0; waited <= patience.count(); waited += kPauseMillis) {
      const ssize_t got = ::read(fd_, head_, 1);  // 0 until somebody has opened it
      if (got > 0) consumed_ += static_cast<int64_t>(head_size_ = 1);
      if (got != 0 || (fifo.revents & POLLHUP) != 0) return fcntl(fd_, F_SETFL, O_RDONLY) == 0;
      poll(&fifo, 1, kPauseMillis);
    }
    return false;
  }

  Result<size_t> read(std::span<char> into) override {
    const size_t from_head = std::min(into.size(), head_size_ - head_used_);
    std::memcpy(into.data(), head_ + head_used_, from_head);
    head_used_ += from_head;
    return from_head + TRY(read_fd(into.subspan(from_head)));
  }

  bool changed() const override {
    struct stat now = {};
    if (!S_ISREG(opened_.st_mode) || fstat(fd_, &now) != 0) return false;
    return now.st_size != opened_.st_size || now.st_mtim.tv_sec != opened_.st_mtim.tv_sec ||
           now.st_mtim.tv_nsec != opened_.st_mtim.tv_nsec;
  }

  double progress() const override {
    return size_ > 0 ? std::min(1.0, static_cast<double>(consumed_) / static_cast<double>(size_))
                     : -1;
  }

 private:
  Result<size_t> read_fd(std::span<char> into) {
    size_t done = 0;
    while (done < into.size()) {
      const ssize_t n = ::read(fd_, into.data() + done, into.size() - done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Error{std::strerror(errno)};
      if (n == 0) break;
      done += static_cast<size_t>(n);
    }
    consumed_ += static_cast<int64_t>(done);
    if (stamp_ != nullptr) stamp_->add(into.first(done));
    return done;
  }

  int fd_;
  int64_t size_;  // -1 where it is not known
  ReadingStamp* stamp_;
  struct stat opened_ = {};
  int64_t consumed_ = 0;
  char head_[kHeadSize];
  size_t head_size_ = 0, head_used_ = 0;
};

Result<std::unique_ptr<FileSource>> open_file(const std::string& path, ReadingStamp* stamp,
                                              std::chrono::milliseconds patience) {
  if (path == "-") {
    const int flags = fcntl(STDIN_FILENO, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY) return Error{"standard input is closed"};
    return std::make_unique<FileSource>(STDIN_FILENO, -1, stamp);
  }
  // Without blocking, or a FIFO that nobody writes to would hang us here.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0 && errno == ENOTDIR && path.ends_with('/'))
    return Error{fmt::format("{} is a file, not a directory; name it without the slash", path)};
  if (fd < 0) return Error{fmt::format("cannot open {}: {}", path, std::strerror(errno))};
  struct stat status = {};
  const bool known = fstat(fd, &status) == 0;
  auto source = std::make_unique<FileSource>(
      fd, known && S_ISREG(status.st_mode) ? static_cast<int64_t>(status.st_size) : -1, stamp);
  if (known && S_ISDIR(status.st_mode)) {
    return Error{fmt::format("{} is a directory; name the file in it", path)};
  }
  if (known && S_ISFIFO(status.st_mode) && !source->await_writer(patience)) {
    return Error{fmt::format("{} is a FIFO, and nobody writes to it", path)};
  }
  return source;
}

}  // namespace

Result<std::unique_ptr<ByteSource>> open_source(const std::string& path, ReadingStamp* stamp) {
  constexpr std::chrono::seconds kPatience(10);
  return open_patiently(path, stamp, kPatience);
}

Result<std::unique_ptr<ByteSource>> open_patiently(const std::string& path, ReadingStamp* stamp,
                                                   std::chrono::milliseconds patience) {
  std::unique_ptr<FileSource> file = TRY(open_file(path, stamp, patience));
  const Result<std::span<const char>> head = file->peek();
  if (!head.ok()) {
    const std::string shown = path == "-" ? "standard input" : path;
    return Error{fmt::format("cannot read {}: {}", shown, head.error().message)};
  }
  if (looks_like_gzip(head.value())) return gunzip(std::move(file));
  if (looks_like_zstd(head.value())) return unzstd(std::move(file));
  return std::unique_ptr<ByteSource>(std::move(file));
}

}  // namespace fathom
