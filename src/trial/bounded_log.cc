#include "trial/bounded_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fathom {

Status BoundedLog::open(const std::filesystem::path& path, uint64_t limit) {
  file_ = FileDescriptor(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
  if (!file_.ok())
    return Error{fmt::format("cannot write {}: {}", path.string(), std::strerror(errno))};
  head_left_ = limit / 2;
  tail_limit_ = limit - limit / 2;
  return Nothing{};
}

void BoundedLog::put(std::string_view bytes) {
  total_ += bytes.size();
  const size_t head = static_cast<size_t>(std::min<uint64_t>(bytes.size(), head_left_));
  write_out(bytes.substr(0, head));
  head_left_ -= head;
  tail_ += bytes.substr(head);
  if (tail_.size() > 2 * tail_limit_) drop_begin();
}

int BoundedLog::finish() {
  drop_begin();
  if (dropped_ > 0) write_out(fmt::format("\n[... {} bytes left out ...]\n", dropped_));
  write_out(tail_);
  file_ = FileDescriptor();
  return failure_;
}

void BoundedLog::drop_begin() {
  if (tail_.size() <= tail_limit_) return;
  const size_t over = tail_.size() - static_cast<size_t>(tail_limit_);
  dropped_ += over;
  tail_.erase(0, over);
}

void BoundedLog::write_out(std::string_view bytes) {
  while (!bytes.empty() && file_.ok()) {
    const ssize_t wrote = write(file_.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) {
      failure_ = wrote < 0 ? errno : ENOSPC;
      return;
    }
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
}

}  // namespace fathom
