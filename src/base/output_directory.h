#pragma once

#include <filesystem>
#include <string_view>

#include "base/result.h"

namespace fathom {

// A report directory that appears whole or not at all: files are written into a directory beside
// it, which takes its place on commit(). Without a commit nothing remains.
class OutputDirectory {
 public:
  // Refuses a path that exists and is no earlier report of ours.
  static Result<OutputDirectory> create(const std::filesystem::path& path);
  // Takes any directory. The files of one that is no report of ours stay; those of the same names
  // are replaced one by one on commit().
  static Result<OutputDirectory> create_or_add_to(const std::filesystem::path& path);

  OutputDirectory(OutputDirectory&& other) noexcept;
  OutputDirectory& operator=(OutputDirectory&&) = delete;
  ~OutputDirectory();

  // Makes the folders that the name needs.
  Status write_file(const std::filesystem::path& name, std::string_view content);
  Status make_folder(const std::filesystem::path& name);
  // Where a file of this name stands until the commit, for a writer that opens it itself.
  std::filesystem::path staged(const std::filesystem::path& name) const { return staging_ / name; }
  Status commit();

 private:
  OutputDirectory(std::filesystem::path final_path, std::filesystem::path staging);
  static Result<OutputDirectory> stage(const std::filesystem::path& final_path);
  Status commit_into();

  std::filesystem::path final_path_;
  std::filesystem::path staging_;
  bool adds_ = false;  // the directory is somebody else's
};

}  // namespace fathom
