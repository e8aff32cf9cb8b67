#include "scan/files/file_measures.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include "base/content_hash.h"
#include "base/threads.h"
#include "scan/files/language.h"
#include "scan/files/notebook.h"
#include "scan/files/origin.h"
#include "scan/files/repository.h"
#include "scan/files/source_text.h"

namespace fathom {
namespace {

constexpr size_t kBufferBytes = 1u << 18;
// As git: a zero byte this early means that it is no text.
constexpr size_t kTextTestBytes = 8000;

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY)) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int fd() const { return fd_; }

 private:
  int fd_;
};

ssize_t read_some(int fd, std::string& buffer) {
  for (;;) {
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n >= 0 || errno != EINTR) return n;
  }
}

void skip(SourceFile& file, SkipReason reason, std::string said) {
  file.skip_reason = reason;
  file.skipped = std::move(said);
}

void look_at_beginning(std::string_view beginning, SourceFile& file) {
  file.language = language_of(file.path, beginning);
  if (beginning.starts_with("\xff\xfe") || beginning.starts_with("\xfe\xff")) {
    skip(file, SkipReason::kUtf16, "UTF-16");
  } else if (beginning.substr(0, kTextTestBytes).find('\0') != std::string_view::npos) {
    skip(file, SkipReason::kBinary, "binary");
  } else if (beginning.starts_with("version https://git-lfs.github.com/spec/")) {  // source text
    skip(file, SkipReason::kLfs, "a Git LFS pointer, not the file itself");
  }
  if (file.origin == Origin::kOwn && says_generated(beginning)) file.origin = Origin::kGenerated;
}

// What people wrote of a notebook are its cells of code; its file may be one line, or hold
// pictures.
void measure_notebook(const std::filesystem::path& root, SourceFile& file) {
  const Result<std::string> json = read_regular_file(root / file.path);
  const auto lines = json.ok() ? code_lines_of_notebook(json.value()) : std::nullopt;
  if (lines)
    file.lines = *lines;
  else
    skip(file, SkipReason::kNoNotebook, "no notebook: it has no list of cells");
}

void measure(const std::filesystem::path& root, SourceFile& file, std::string& buffer) {
  file.language = language_of(file.path, {});
  const OpenFile opened(root / file.path);
  struct stat status = {};
  if (opened.fd() < 0 || fstat(opened.fd(), &status) != 0) {
    skip(file, SkipReason::kUnreadable, fmt::format("cannot be read: {}", std::strerror(errno)));
    return;
  }
  file.size = static_cast<uint64_t>(std::max<off_t>(status.st_size, 0));
  if (!S_ISREG(status.st_mode)) skip(file, SkipReason::kNoFile, "no regular file");
  if (file.size > kMaxSourceBytes) {
    skip(file, SkipReason::kTooLarge, fmt::format("over {} MB", kMaxSourceBytes >> 20));
  }
  uint64_t done = 0, breaks = 0;
  ContentHash hash;
  char last = '\n';
  while (file.skipped.empty() && done <= kMaxSourceBytes) {
    const ssize_t n = read_some(opened.fd(), buffer);
    if (n < 0)
      skip(file, SkipReason::kUnreadable, fmt::format("cannot be read: {}", std::strerror(errno)));
    if (n <= 0) break;
    const std::string_view bytes(buffer.data(), static_cast<size_t>(n));
    if (done == 0) look_at_beginning(bytes, file);
    hash.add(bytes);
    done += bytes.size();
    breaks += static_cast<uint64_t>(std::ranges::count(bytes, '\n'));
    last = bytes.back();
  }
  file.content_hash = hash.value();
  if (file.skipped.empty()) file.lines = static_cast<uint32_t>(breaks + (last != '\n' ? 1 : 0));
  if (file.skipped.empty() && file.path.ends_with(".ipynb")) measure_notebook(root, file);
}

}  // namespace

void measure_files(const std::filesystem::path& root, std::vector<SourceFile>& files,
                   size_t threads) {
  constexpr size_t kFilesForThread = 256;
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  threads = std::min(threads, files.size() / kFilesForThread + 1);
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    std::string buffer(kBufferBytes, '\0');
    for (size_t i = next++; i < files.size(); i = next++) measure(root, files[i], buffer);
  };
  Threads others;
  for (size_t i = 1; i < threads && others.start(work); ++i) {
  }
  work();
}

}  // namespace fathom
