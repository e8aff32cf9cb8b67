#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace fathom {

// What to try after an error of writing: another place, unless a limit of the process is the cause.
std::string_view remedy_of(int code);

// A directory for what is being written, in the folder that it will be moved to. It is removed with
// the object, by remove_all_staging(), or, where the program was killed, by the next run that
// stages something in the same folder: its owner holds a lock in it for as long as it lives.
//
//     .fathom-tmp-0123456789abcdef/
//       lock     says that the directory is ours; locked (flock) by its owner
//       new/     what is being written
class StagingDirectory {
 public:
  // Removes what dead runs left in `folder`, then makes one. `shown` is what the user calls it.
  static Result<StagingDirectory> create(const std::filesystem::path& folder,
                                         const std::filesystem::path& shown);

  // Why none can be made there, "cannot write in x: Permission denied"; nothing where one can, or
  // where the place is not to blame.
  static std::optional<std::string> refusal(const std::filesystem::path& folder,
                                            const std::filesystem::path& shown);

  StagingDirectory(StagingDirectory&& other) noexcept;
  StagingDirectory& operator=(StagingDirectory&&) = delete;
  ~StagingDirectory();

  // For those who open files by path.
  const std::filesystem::path& content() const { return content_; }
  // The directory itself: "new" in it is the content; other names in it are free to use.
  int fd() const { return directory_.get(); }

 private:
  StagingDirectory() = default;
  // An error is the system's word for it, with errno in `code`.
  static Result<StagingDirectory> make_in(const std::filesystem::path& folder, int& code);

  FileDescriptor folder_, directory_, lock_;
  std::string name_;
  std::filesystem::path content_;
  int slot_ = -1;
};

bool is_staging_name(std::string_view name);

// Fails where a finished file may not be moved to: a device, a pipe or a folder has that name, or a
// link to one. Moving the file there would replace /dev/null by it.
Status check_file_place(const std::filesystem::path& file);

// Removes every staging directory of this process. For a signal handler or an exhausted heap: the
// program must end right after it.
void remove_all_staging();

// While one lives, a signal that ends the program waits for it: the files of a report are being
// swapped, which takes milliseconds.
class Uninterrupted {
 public:
  Uninterrupted();
  ~Uninterrupted();
  Uninterrupted(const Uninterrupted&) = delete;
  Uninterrupted& operator=(const Uninterrupted&) = delete;
};
// For the handler: whether the signal waits; it is raised again then.
bool postpones(int signal);

// Removes what runs that are dead left in the folder. What has the name of a staging directory but
// not its lock file with the right words, or belongs to somebody else, is left alone.
void remove_stale_staging(int folder);

}  // namespace fathom
