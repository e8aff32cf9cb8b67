#pragma once

#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "base/report_manifest.h"
#include "base/result.h"
#include "base/staging.h"

namespace fathom {

// What a report may take the place of, and what it is.
struct OutputPlace {
  std::filesystem::path path;
  ReportIdentity identity;
  bool force = false;  // into any directory, and in place of any other report
};

// A report directory that is written whole or not at all: files are staged, and moved to their
// places on commit(). Without a commit nothing remains.
//
// A directory that is there already stays the same directory, with everything in it that the
// manifest of the report in it does not list. What is in the way of a new file and is not ours, or
// was changed since we wrote it, is kept under another name.
class OutputDirectory {
 public:
  // Takes a path where nothing is, an empty directory, or a report of the same identity; with force
  // any directory.
  static Result<OutputDirectory> create(const OutputPlace& place);
  // Whether create() would take the place, as far as can be told without writing.
  static Status check(const OutputPlace& place);

  OutputDirectory(OutputDirectory&& other) noexcept = default;
  ~OutputDirectory();

  // Makes the folders that the name needs.
  Status write_file(const std::filesystem::path& name, std::string_view content);
  Status make_folder(const std::filesystem::path& name);
  // Where a file of this name is until the commit, for a writer that opens it itself.
  std::filesystem::path staged(const std::filesystem::path& name) const {
    return staging_.content() / name;
  }
  // A sentence for everything that was kept under another name. The stamp goes into the manifest.
  Result<std::vector<std::string>> commit(uint64_t stamp = 0);

 private:
  OutputDirectory(OutputPlace place, std::filesystem::path path, StagingDirectory staging,
                  std::vector<std::filesystem::path> made)
      : place_(std::move(place)),
        path_(std::move(path)),
        staging_(std::move(staging)),
        made_(std::move(made)) {}
  bool move_to_free_place() const;
  void end_staging();
  Result<std::vector<std::string>> commit_into(int target, const ReportManifest& now);

  OutputPlace place_;
  std::filesystem::path path_;  // canonical
  StagingDirectory staging_;
  std::vector<std::filesystem::path> made_;  // folders above, the outermost first
};

// The manifest of the report in a directory, where that is complete and every file in it is what
// the manifest says; nothing otherwise.
std::optional<ReportManifest> verified_report(const std::filesystem::path& directory);

// A file that is not there yet, or is ours; `shown` is what the user calls it.
Status write_new_file(const std::filesystem::path& path, const std::filesystem::path& shown,
                      std::string_view content);

// How a report's directory is shown: "report/" and "report/." are "report".
std::filesystem::path shown_directory(const std::filesystem::path& path);

}  // namespace fathom
