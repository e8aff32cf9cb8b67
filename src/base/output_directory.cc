#include "base/output_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace fathom {
namespace {

namespace fs = std::filesystem;

// Says that a directory is ours to replace.
constexpr const char* kMarker = ".fathom-report";

Error failed(std::string_view what, const fs::path& path, int code) {
  return Error{fmt::format("cannot {} {}: {}; choose another place with --out", what, path.string(),
                           std::strerror(code))};
}

Status write_all(int fd, std::string_view content, const fs::path& path) {
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed("write", path, errno);
    content.remove_prefix(static_cast<size_t>(n));
  }
  return Nothing{};
}

}  // namespace

OutputDirectory::OutputDirectory(fs::path final_path, fs::path staging)
    : final_path_(std::move(final_path)), staging_(std::move(staging)) {}

OutputDirectory::OutputDirectory(OutputDirectory&& other) noexcept
    : final_path_(std::move(other.final_path_)),
      staging_(std::move(other.staging_)),
      adds_(other.adds_) {
  other.staging_.clear();
}

OutputDirectory::~OutputDirectory() {
  std::error_code ignored;
  if (!staging_.empty()) fs::remove_all(staging_, ignored);
}

namespace {

// "report/" names the same place as "report"; the staging directory must be its sibling.
fs::path without_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

bool is_taken(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error)) && !fs::exists(path / kMarker, error);
}

}  // namespace

Result<OutputDirectory> OutputDirectory::create(const fs::path& path) {
  const fs::path final_path = without_slash(path);
  if (is_taken(final_path)) {
    return Error{fmt::format("{} exists and is no Fathom report; choose another place with --out",
                             final_path.string())};
  }
  OutputDirectory directory = TRY(stage(final_path));
  TRY(directory.write_file(kMarker, "Made by fathom; the next report replaces this directory.\n"));
  return directory;
}

Result<OutputDirectory> OutputDirectory::create_or_add_to(const fs::path& path) {
  const fs::path final_path = without_slash(path);
  if (!is_taken(final_path)) return create(path);
  std::error_code error;
  if (!fs::is_directory(final_path, error)) {
    return Error{
        fmt::format("{} is no directory; choose another place with --out", final_path.string())};
  }
  OutputDirectory directory = TRY(stage(final_path));
  directory.adds_ = true;
  return directory;
}

Result<OutputDirectory> OutputDirectory::stage(const fs::path& final_path) {
  std::error_code error;
  if (final_path.has_parent_path() && !fs::create_directories(final_path.parent_path(), error) &&
      error) {
    return failed("make the directory", final_path.parent_path(), error.value());
  }
  const fs::path staging = fmt::format("{}.tmp-{}", final_path.string(), getpid());
  if (!fs::create_directory(staging, error)) {
    return Error{fmt::format("cannot write beside {}: {}; choose another place with --out",
                             final_path.string(), error ? error.message() : "left by another run")};
  }
  return OutputDirectory(final_path, staging);
}

Status OutputDirectory::make_folder(const fs::path& name) {
  std::error_code error;
  fs::create_directories(staging_ / name, error);
  if (error) return failed("make the directory", staging_ / name, error.value());
  return Nothing{};
}

Status OutputDirectory::write_file(const fs::path& name, std::string_view content) {
  const fs::path path = staging_ / name;
  TRY(make_folder(name.parent_path()));
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return failed("write", path, errno);
  Status written = write_all(fd, content, path);
  // A full disk may speak up only when the file is closed.
  if (close(fd) != 0 && written.ok()) return failed("write", path, errno);
  return written;
}

// Each file appears whole; a folder in the way of a file, or the other way round, is left alone.
Status OutputDirectory::commit_into() {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(staging_, error)) {
    const fs::path target = final_path_ / entry.path().lexically_relative(staging_);
    if (entry.is_directory(error)) {
      fs::create_directories(target, error);
    } else {
      fs::rename(entry.path(), target, error);
    }
    if (error) return failed("write", target, error.value());
  }
  return Nothing{};  // the staging directory goes with the object
}

Status OutputDirectory::commit() {
  if (adds_) return commit_into();
  std::error_code error;
  if (fs::exists(final_path_, error)) {
    // Swap, so that at every moment a whole report stands there; the old one goes with the staging
    // name. File systems without the swap get two renames.
    if (renameat2(AT_FDCWD, staging_.c_str(), AT_FDCWD, final_path_.c_str(), RENAME_EXCHANGE) ==
        0) {
      fs::remove_all(staging_, error);
      staging_.clear();
      return Nothing{};
    }
    fs::remove_all(final_path_, error);
  }
  fs::rename(staging_, final_path_, error);
  if (error) return failed("write", final_path_, error.value());
  staging_.clear();
  return Nothing{};
}

}  // namespace fathom
