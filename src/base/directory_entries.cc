#include "base/directory_entries.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace fathom {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;

bool is_dots(std::string_view name) { return name == "." || name == ".."; }

// readdir() allocates, so the entries come from the system call. Those that were removed do not
// shift the others, but a large directory may be given in parts that miss some: see remove_tree.
template <typename Visit>
bool visit_entries(int directory, Visit visit) {
  alignas(dirent64) char buffer[8192];
  while (true) {
    const long got = syscall(SYS_getdents64, directory, buffer, sizeof(buffer));
    if (got <= 0) return got == 0;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
      if (!is_dots(entry->d_name)) visit(entry->d_name);
      at += entry->d_reclen;
    }
  }
}

bool remove_below(int at, const char* name, dev_t device) {
  if (unlinkat(at, name, 0) == 0 || errno == ENOENT) return true;
  const FileDescriptor directory(openat(at, name, kDirectory));
  struct stat status = {};
  if (!directory.ok() || fstat(directory.get(), &status) != 0 || status.st_dev != device)
    return false;
  // Again while something went: entries may be passed over while others are removed.
  bool some = true;
  while (some && unlinkat(at, name, AT_REMOVEDIR) != 0) {
    if (errno == ENOENT) return true;
    if (errno != ENOTEMPTY && errno != EEXIST) return false;
    some = false;
    if (lseek(directory.get(), 0, SEEK_SET) != 0) return false;
    visit_entries(directory.get(), [&](const char* entry) {
      if (remove_below(directory.get(), entry, device)) some = true;
    });
  }
  return some;
}

}  // namespace

FileDescriptor open_directory(int at, const std::string& path) {
  FileDescriptor directory(openat(at, ".", kDirectory));
  for (size_t begin = 0; begin < path.size() && directory.ok();) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    if (!name.empty())
      directory = FileDescriptor(openat(directory.get(), name.c_str(), kDirectory));
    begin = end + 1;
  }
  return directory;
}

FileDescriptor open_regular_file(int at, const char* name) {
  FileDescriptor file(openat(at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (file.ok() && fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode)) return file;
  return {};
}

std::vector<std::string> entries_of(int directory) {
  std::vector<std::string> names;
  const FileDescriptor own(openat(directory, ".", kDirectory));  // its position is its own
  visit_entries(own.get(), [&](const char* name) { names.emplace_back(name); });
  std::ranges::sort(names);
  return names;
}

bool remove_tree(int at, const char* name) {
  struct stat status = {};
  if (fstatat(at, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
  return remove_below(at, name, status.st_dev);
}

}  // namespace fathom
