#include "base/output_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/content_hash.h"
#include "base/directory_entries.h"
#include "base/report_swap.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kElsewhere = "choose another place with --out";

Error failed(std::string_view what, const fs::path& path, int code) {
  return Error{fmt::format("cannot {} {}: {}; {}", what, path.string(), std::strerror(code),
                           remedy_of(code))};
}

// Where the directory really is: "r/.", "link/r" and "r" are one place.
Result<fs::path> canonical_place(const fs::path& path) {
  std::error_code error;
  fs::path place = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) return failed("write", path, error.value());
  if (!place.has_filename() && place.has_parent_path()) place = place.parent_path();
  if (fs::is_symlink(fs::symlink_status(place, error))) {
    return Error{fmt::format("{} is a link to something that does not exist; {}", path.string(),
                             kElsewhere)};
  }
  return place;
}

// Far more than the manifest of a report with a page for each kernel of the largest repositories.
constexpr size_t kLongestManifest = size_t{64} << 20;

std::optional<std::string> read_manifest_text(int directory) {
  const FileDescriptor file = open_regular_file(directory, ReportManifest::kName);
  struct stat status = {};
  if (!file.ok() || fstat(file.get(), &status) != 0 || status.st_size < 0) return {};
  if (static_cast<size_t>(status.st_size) > kLongestManifest) return {};
  std::string text(static_cast<size_t>(status.st_size), '\0');
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = read(file.get(), text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return {};
    done += static_cast<size_t>(n);
  }
  return text;
}

std::optional<ReportManifest> read_manifest(int directory) {
  const std::optional<std::string> text = read_manifest_text(directory);
  return text ? parse_manifest(*text) : std::nullopt;
}

// What keeps a report from going into a directory that is there.
Status check_directory(int directory, const OutputPlace& place) {
  if (place.force) return Nothing{};
  const std::string path = place.path.string();
  const std::optional<std::string> text = read_manifest_text(directory);
  if (!text) {
    const std::vector<std::string> names = entries_of(directory);
    if (std::ranges::all_of(names, is_staging_name)) return Nothing{};
    return Error{
        fmt::format("{} exists and is no Fathom report; {}, or add the report to it with --force",
                    path, kElsewhere)};
  }
  const std::optional<ReportManifest> manifest = parse_manifest(*text);
  if (manifest && manifest->identity == place.identity) return Nothing{};
  if (manifest) {
    return Error{
        fmt::format("{} holds {}; this is {}; {}, replace that report with --force, or write none "
                    "with --no-report",
                    path, describe(manifest->identity), describe(place.identity), kElsewhere)};
  }
  return Error{fmt::format(
      "{} holds a report {}, so its files cannot be distinguished from yours; remove it, {}, or "
      "write into "
      "it with --force, which renames files that are in the way",
      path,
      is_manifest_of_earlier_version(*text) ? "of an earlier version, without a list of its files"
                                            : "whose list of files (.fathom-report) is damaged",
      kElsewhere)};
}

FileDescriptor open_place(const fs::path& path) {
  return FileDescriptor(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// The folders above, where they are missing; notes which were made.
Status make_folders(const fs::path& path, std::vector<fs::path>& made) {
  if (path.empty() || access(path.c_str(), F_OK) == 0) return Nothing{};
  TRY(make_folders(path.parent_path(), made));
  if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
    return failed("make the directory", path, errno);
  made.push_back(path);
  return Nothing{};
}

void remove_folders(const std::vector<fs::path>& made) {
  for (auto folder = made.rbegin(); folder != made.rend(); ++folder) rmdir(folder->c_str());
}

// One run at a time changes a directory; changing it takes milliseconds.
bool lock_directory(int directory) {
  constexpr int kTries = 200, kPauseMicros = 50'000;
  for (int i = 0; i < kTries; ++i) {
    if (flock(directory, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) return true;
    usleep(kPauseMicros);
  }
  return false;
}

// Both contents of a file are ours meanwhile.
ReportManifest while_replacing(ReportManifest now, const ReportManifest& old) {
  now.complete = false;
  now.stamp = 0;
  for (const auto& [path, file] : old.files) {
    if (path != ReportManifest::kName && !now.lists(path, file)) now.files.emplace(path, file);
  }
  return now;
}

}  // namespace

Status OutputDirectory::check(const OutputPlace& asked) {
  OutputPlace place = asked;
  place.path = TRY(canonical_place(asked.path));
  const FileDescriptor there = open_place(place.path);
  const int code = errno;
  place.path = asked.path;  // as the user wrote it, in messages
  if (there.ok()) {
    remove_stale_staging(there.get());
    return check_directory(there.get(), place);
  }
  if (code == ENOENT) return Nothing{};
  if (code == ENOTDIR) {
    struct stat status = {};
    if (stat(asked.path.c_str(), &status) == 0) {
      return Error{fmt::format("{} is no directory; {}", asked.path.string(), kElsewhere)};
    }
  }
  return failed("write", asked.path, code);
}

Result<OutputDirectory> OutputDirectory::create(const OutputPlace& asked) {
  TRY(check(asked));
  const fs::path path = TRY(canonical_place(asked.path));
  const FileDescriptor above = open_place(path.parent_path());
  if (above.ok()) remove_stale_staging(above.get());
  if (open_place(path).ok()) {
    return OutputDirectory(asked, path, TRY(StagingDirectory::create(path, asked.path)), {});
  }
  std::vector<fs::path> made;
  const Status folders = make_folders(path.parent_path(), made);
  Result<StagingDirectory> staging =
      folders.ok()
          ? StagingDirectory::create(path.parent_path(), shown_directory(asked.path).parent_path())
          : Result<StagingDirectory>(folders.error());
  if (!staging.ok()) {
    remove_folders(made);
    return staging.error();
  }
  return OutputDirectory(asked, path, staging.take(), std::move(made));
}

OutputDirectory::~OutputDirectory() {
  if (made_.empty()) return;
  end_staging();  // it is in the innermost of them
  remove_folders(made_);
}

void OutputDirectory::end_staging() { const StagingDirectory gone = std::move(staging_); }

Status OutputDirectory::make_folder(const fs::path& name) {
  std::error_code error;
  fs::create_directories(staged(name), error);
  if (error) return failed("make the directory", place_.path / name, error.value());
  return Nothing{};
}

Status OutputDirectory::write_file(const fs::path& name, std::string_view content) {
  TRY(make_folder(name.parent_path()));
  return write_new_file(staged(name), place_.path / name, content);
}

Status write_new_file(const fs::path& path, const fs::path& shown, std::string_view content) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return failed("write", shown, errno);
  while (!content.empty()) {
    const ssize_t n = ::write(fd, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;
    content.remove_prefix(static_cast<size_t>(n));
  }
  const int code = content.empty() ? 0 : errno;
  // A full disk may be reported only when the file is closed.
  if (close(fd) != 0 || code != 0) return failed("write", shown, code != 0 ? code : errno);
  return Nothing{};
}

Result<std::vector<std::string>> OutputDirectory::commit(uint64_t stamp) {
  ReportManifest now;
  now.identity = place_.identity;
  now.program = "fathom " FATHOM_VERSION;
  now.stamp = stamp;
  std::error_code ignored;
  fs::remove(staged(ReportManifest::kName), ignored);  // of a report that was made elsewhere
  {
    const FileDescriptor content = open_directory(staging_.fd(), "new");
    if (!content.ok()) return failed("read", path_, errno);
    now.files = TRY(measure_tree(content.get()));
  }
  TRY(write_file(ReportManifest::kName, print_manifest(now)));
  if (move_to_free_place()) {
    made_.clear();
    end_staging();
    return std::vector<std::string>{};
  }
  const FileDescriptor there = open_place(path_);
  if (!there.ok()) return failed("write", place_.path, errno);
  if (!lock_directory(there.get())) {
    return Error{
        fmt::format("{} is being written by another run; {}", place_.path.string(), kElsewhere)};
  }
  TRY(check_directory(there.get(), place_));  // again, as nobody else can change it now
  return commit_into(there.get(), now);
}

// Where nothing is, the whole report appears at once.
bool OutputDirectory::move_to_free_place() const {
  if (renameat2(staging_.fd(), "new", AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0) return true;
  // A file system that cannot promise to replace nothing.
  if (errno != EINVAL && errno != ENOSYS) return false;
  struct stat status = {};
  return lstat(path_.c_str(), &status) != 0 && errno == ENOENT &&
         renameat(staging_.fd(), "new", AT_FDCWD, path_.c_str()) == 0;
}

// The first manifest lists old and new files, so that a run that is killed here leaves nothing that
// the next one would take for the user's; the last one lists the new files.
Result<std::vector<std::string>> OutputDirectory::commit_into(int target,
                                                              const ReportManifest& now) {
  const std::string kManifest = ReportManifest::kName, kFirst = kManifest + "-first";
  ReportManifest old = read_manifest(target).value_or(ReportManifest{});
  const std::optional<std::string> text = read_manifest_text(target);
  if (text && (parse_manifest(*text) || is_manifest_of_earlier_version(*text))) {
    old.files.emplace(kManifest, ManifestFile{text->size(), hash_content(*text)});
  }
  const std::string first = print_manifest(while_replacing(now, old)), last = print_manifest(now);
  const ManifestFile first_file{first.size(), hash_content(first)},
      last_file{last.size(), hash_content(last)};
  old.files.emplace(kManifest, first_file);
  TRY(write_file(kFirst, first));

  const Uninterrupted until_all_is_in_place;
  ReportSwap swap(target, staging_.fd(), shown_directory(place_.path).string(), old);
  TRY(swap.place(kFirst, kManifest, first_file));
  for (const auto& [path, file] : now.files) TRY(swap.place(path, path, file));
  TRY(swap.place(kManifest, kManifest, last_file));
  swap.finish(now);
  end_staging();
  return swap.notes();
}

std::optional<ReportManifest> verified_report(const fs::path& directory) {
  const FileDescriptor there(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!there.ok()) return {};
  std::optional<ReportManifest> manifest = read_manifest(there.get());
  if (!manifest || !manifest->complete) return {};
  for (const auto& [path, file] : manifest->files) {
    const size_t slash = path.rfind('/') + 1;  // 0 where there is none
    const FileDescriptor folder = open_directory(there.get(), path.substr(0, slash));
    if (!folder.ok() || measure_file(folder.get(), path.c_str() + slash) != file) return {};
  }
  return manifest;
}

fs::path shown_directory(const fs::path& path) {
  const fs::path normal = path.lexically_normal();
  return normal.has_filename() || !normal.has_parent_path() ? normal : normal.parent_path();
}

}  // namespace fathom
