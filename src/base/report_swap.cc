#include "base/report_swap.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/content_hash.h"
#include "base/directory_entries.h"
#include "base/staging.h"

namespace fathom {
namespace {

std::pair<std::string, std::string> split_last(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

bool is_there(int folder, const std::string& name) {
  struct stat status = {};
  return fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

// Never onto something: a file system that cannot promise it gets a look first.
int rename_to_free(int from, const char* name, int to, const char* new_name) {
  if (renameat2(from, name, to, new_name, RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return -1;
  if (is_there(to, new_name)) {
    errno = EEXIST;
    return -1;
  }
  return renameat(from, name, to, new_name);
}

}  // namespace

std::optional<ManifestFile> measure_file(int directory, const char* name) {
  const FileDescriptor file = open_regular_file(directory, name);
  if (!file.ok()) return {};
  std::string buffer(size_t{1} << 18, '\0');
  ContentHash hash;
  while (true) {
    const ssize_t got = read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) break;
    hash.add(std::string_view(buffer.data(), static_cast<size_t>(got)));
  }
  return ManifestFile{hash.size(), hash.value()};
}

Result<std::multimap<std::string, ManifestFile>> measure_tree(int directory,
                                                              const std::string& prefix) {
  std::multimap<std::string, ManifestFile> files;
  for (const std::string& name : entries_of(directory)) {
    const std::string path = prefix + name;
    if (const std::optional<ManifestFile> file = measure_file(directory, name.c_str())) {
      files.emplace(path, *file);
      continue;
    }
    const FileDescriptor folder = open_directory(directory, name);
    if (!folder.ok() && (errno == ENOTDIR || errno == ELOOP))
      return Error{fmt::format("{} is neither a file nor a folder", path)};
    if (!folder.ok()) return Error{fmt::format("cannot open {}: {}", path, std::strerror(errno))};
    files.merge(TRY(measure_tree(folder.get(), path + "/")));
  }
  return files;
}

ReportSwap::ReportSwap(int target, int staging, std::string shown, const ReportManifest& old)
    : target_(target),
      staging_(staging),
      shown_(shown == "." ? "" : std::move(shown) + "/"),
      old_(old) {
  target_folders_.emplace("", open_directory(target, ""));
}

ReportSwap::~ReportSwap() {
  for (; !done_.empty(); done_.pop_back()) {
    const Move& m = done_.back();
    if (m.from < 0) {
      unlinkat(m.to, m.to_name.c_str(), AT_REMOVEDIR);
    } else if (m.exchange) {
      renameat2(m.from, m.from_name.c_str(), m.to, m.to_name.c_str(), RENAME_EXCHANGE);
    } else {
      rename_to_free(m.to, m.to_name.c_str(), m.from, m.from_name.c_str());
    }
  }
}

Error ReportSwap::failed(const std::string& path) const {
  const char* why = errno == EXDEV   ? "another file system is mounted there"
                    : errno == EBUSY ? "something is mounted there"
                                     : std::strerror(errno);
  return Error{fmt::format("cannot write {}{}: {}; {}", shown_, path, why, remedy_of(errno))};
}

Status ReportSwap::move(Move move, const std::string& path) {
  if (rename_to_free(move.from, move.from_name.c_str(), move.to, move.to_name.c_str()) != 0)
    return failed(path);
  done_.push_back(std::move(move));
  return Nothing{};
}

bool ReportSwap::is_ours(int folder, const std::string& path, const std::string& name,
                         const ManifestFile* file) const {
  const std::optional<ManifestFile> there = measure_file(folder, name.c_str());
  if (!there) return false;
  if (file != nullptr && *there == *file) return true;  // the same content: nothing is lost
  // An emptied file of ours holds nothing to keep.
  return old_.lists(path, *there) || (there->size == 0 && old_.files.contains(path));
}

Status ReportSwap::keep_aside(int folder, const std::string& path, const std::string& name) {
  constexpr int kMost = 1000;
  for (int n = 1; n <= kMost; ++n) {
    const std::string ending = n == 1 ? ".kept" : fmt::format(".kept-{}", n);
    const std::string aside = name.substr(0, NAME_MAX - ending.size()) + ending;
    if (is_there(folder, aside)) continue;
    TRY(move({folder, folder, name, aside, false}, path));
    const std::string where = path.substr(0, path.size() - name.size()) + aside;
    const bool changed = old_.files.contains(path);
    notes_.push_back(fmt::format(
        "{}{} {}; it is kept as {}{}", shown_, path,
        changed ? "was changed since Fathom wrote it" : "is not Fathom's and was in the way",
        shown_, where));
    return Nothing{};
  }
  errno = EEXIST;
  return failed(path);
}

// Makes room for something new: a file of ours goes with the staging, anything else is kept aside.
Status ReportSwap::clear(int folder, const std::string& path, const std::string& name,
                         const ManifestFile* file) {
  if (!is_there(folder, name)) return Nothing{};
  if (!is_ours(folder, path, name, file)) return keep_aside(folder, path, name);
  return move({folder, staging_, name, fmt::format("old-{}", ++trash_), false}, path);
}

Result<int> ReportSwap::target_folder(const std::string& path) {
  if (const auto known = target_folders_.find(path); known != target_folders_.end())
    return known->second.get();
  const auto [above, name] = split_last(path);
  const int parent = TRY(target_folder(above));
  FileDescriptor folder = open_directory(parent, name);
  if (!folder.ok() && (errno == EMFILE || errno == ENFILE || errno == ENOMEM)) return failed(path);
  if (!folder.ok()) {
    TRY(clear(parent, path, name, nullptr));  // a file or a link where a folder goes
    if (mkdirat(parent, name.c_str(), 0777) != 0) return failed(path);
    done_.push_back({-1, parent, "", name, false});
    folder = open_directory(parent, name);
    if (!folder.ok()) return failed(path);
  }
  return target_folders_.emplace(path, std::move(folder)).first->second.get();
}

Result<int> ReportSwap::staged_folder(const std::string& path) {
  auto known = staged_folders_.find(path);
  if (known == staged_folders_.end()) {
    FileDescriptor folder = open_directory(staging_, "new/" + path);
    if (!folder.ok()) return failed(path);
    known = staged_folders_.emplace(path, std::move(folder)).first;
  }
  return known->second.get();
}

Status ReportSwap::place(const std::string& staged, const std::string& path,
                         const ManifestFile& file) {
  const auto [above, name] = split_last(path);
  const auto [staged_above, staged_name] = split_last(staged);
  const int to = TRY(target_folder(above));
  const int from = TRY(staged_folder(staged_above));
  // In one step where both can change places, so that the name is never without a file.
  if (is_there(to, name) && is_ours(to, path, name, &file)) {
    if (renameat2(from, staged_name.c_str(), to, name.c_str(), RENAME_EXCHANGE) == 0) {
      done_.push_back({from, to, staged_name, name, true});
      return Nothing{};
    }
    if (errno != EINVAL && errno != ENOSYS) return failed(path);
  }
  TRY(clear(to, path, name, &file));
  return move({from, to, staged_name, name, false}, path);
}

void ReportSwap::finish(const ReportManifest& now) {
  done_.clear();
  std::vector<std::string> emptied;
  for (const auto& [path, _] : old_.files) {
    if (path == ReportManifest::kName || now.files.contains(path)) continue;
    const auto [above, name] = split_last(path);
    const FileDescriptor folder = open_directory(target_, above);
    if (!folder.ok() || !is_there(folder.get(), name)) continue;
    if (!is_ours(folder.get(), path, name, nullptr)) {
      notes_.push_back(fmt::format(
          "{}{} was changed since Fathom wrote it and is kept; it is not part of the new report",
          shown_, path));
      continue;
    }
    if (unlinkat(folder.get(), name.c_str(), 0) != 0) continue;
    for (std::string at = above; !at.empty(); at = split_last(at).first) emptied.push_back(at);
  }
  // The innermost first; one that still holds something stays.
  std::ranges::sort(emptied, std::greater<>());
  const auto repeated = std::ranges::unique(emptied);
  emptied.erase(repeated.begin(), repeated.end());
  for (const std::string& path : emptied) {
    const auto [above, name] = split_last(path);
    const FileDescriptor folder = open_directory(target_, above);
    if (folder.ok()) unlinkat(folder.get(), name.c_str(), AT_REMOVEDIR);
  }
}

}  // namespace fathom
