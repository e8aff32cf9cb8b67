#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/report_manifest.h"
#include "base/result.h"

namespace fathom {

// A file's size and hash; nothing for what is no regular file. Follows no link.
std::optional<ManifestFile> measure_file(int directory, const char* name);

// Every file below a directory, measured; fails at anything that is neither a file nor a folder.
Result<std::multimap<std::string, ManifestFile>> measure_tree(int directory,
                                                              const std::string& prefix = "");

// Moves staged files into a directory that is there already, one by one, and takes every step back
// where one fails. The lookups start at open directories and follow no link.
class ReportSwap {
 public:
  // `staging` holds the new files in "new" and takes what they replace. `shown` is for messages.
  // What `old` lists is ours to replace.
  ReportSwap(int target, int staging, std::string shown, const ReportManifest& old);
  ~ReportSwap();  // takes back what was not finished

  // Puts new/STAGED at PATH. What is there goes with the staging where it is ours, and is kept
  // under another name where it is not.
  Status place(const std::string& staged, const std::string& path, const ManifestFile& file);
  // Removes what the old report listed and the new one does not, where nobody changed it. Nothing
  // is taken back after this.
  void finish(const ReportManifest& now);

  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Move {
    int from, to;  // directories; from is -1 where `to` is a folder that was made
    std::string from_name, to_name;
    bool exchange;
  };

  Result<int> target_folder(const std::string& path);
  Result<int> staged_folder(const std::string& path);
  Status clear(int folder, const std::string& path, const std::string& name,
               const ManifestFile* file);
  Status keep_aside(int folder, const std::string& path, const std::string& name);
  Status move(Move move, const std::string& path);
  bool is_ours(int folder, const std::string& path, const std::string& name,
               const ManifestFile* file) const;
  Error failed(const std::string& path) const;

  int target_, staging_;
  std::string shown_;  // what precedes a path in messages
  const ReportManifest& old_;
  std::map<std::string, FileDescriptor> target_folders_, staged_folders_;
  std::vector<Move> done_;
  std::vector<std::string> notes_;
  int trash_ = 0;
};

}  // namespace fathom
