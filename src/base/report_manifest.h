#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// What a report is of. A report only replaces one of the same identity.
struct ReportIdentity {
  std::string kind;     // the command: analyze, diff, scan
  std::string subject;  // its input, from where the report lies
  std::string scope;    // the options that leave part of the input out; empty: all of it

  bool operator==(const ReportIdentity&) const = default;
};

// "an analyze report of trace.json.gz, --steps 1:2"
std::string describe(const ReportIdentity& identity);

struct ManifestFile {
  uint64_t size = 0;
  uint64_t hash = 0;  // ContentHash

  bool operator==(const ManifestFile&) const = default;
};

// The list of a report's own files, kept in it as `.fathom-report`: what is not on it, or differs
// from what it says, is the user's.
struct ReportManifest {
  static constexpr const char* kName = ".fathom-report";

  ReportIdentity identity;
  std::string program;   // who wrote it: fathom 0.1.0
  uint64_t stamp = 0;    // of all that the report depends on; 0: not kept
  bool complete = true;  // false while files are being replaced
  // By path. While files are being replaced, both the old and the new content are ours.
  std::multimap<std::string, ManifestFile> files;

  bool lists(const std::string& path, const ManifestFile& file) const;
};

std::string print_manifest(const ReportManifest& manifest);
// Nothing where the text is damaged, of another format, or names a file outside its directory.
std::optional<ReportManifest> parse_manifest(std::string_view text);
// What versions before the manifest put in its place.
bool is_manifest_of_earlier_version(std::string_view text);

}  // namespace fathom
