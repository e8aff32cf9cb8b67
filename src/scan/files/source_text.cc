#include "scan/files/source_text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "scan/files/notebook.h"

namespace fathom {

Result<std::string> read_regular_file(const std::filesystem::path& path, uint64_t limit) {
  const auto failed = [&path](std::string_view why) {
    return Error{fmt::format("cannot read {}: {}", path.string(), why)};
  };
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
  if (fd < 0) return failed(std::strerror(errno));
  struct stat status = {};
  const bool regular = fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  const auto size = regular ? static_cast<uint64_t>(status.st_size) : 0;
  if (!regular || size > limit) {
    close(fd);
    return failed(regular ? fmt::format("over {} bytes", limit) : "no regular file");
  }
  std::string text(size, '\0');
  size_t filled = 0;
  ssize_t n = 0;
  while (filled < size &&
         ((n = read(fd, text.data() + filled, size - filled)) > 0 || (n < 0 && errno == EINTR))) {
    if (n > 0) filled += static_cast<size_t>(n);
  }
  const int error = n < 0 ? errno : 0;
  close(fd);
  if (error != 0) return failed(std::strerror(error));
  text.resize(filled);  // it may have shrunk meanwhile
  return text;
}

Result<std::string> read_source_text(const std::filesystem::path& path, uint64_t limit) {
  std::string text = TRY(read_regular_file(path, limit));
  return path.extension() == ".ipynb" ? code_of_notebook(text) : text;
}

}  // namespace fathom
