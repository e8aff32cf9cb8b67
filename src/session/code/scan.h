#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/output_directory.h"
#include "base/progress.h"
#include "report/scan/scan_report.h"
#include "scan/scan_repository.h"

namespace fathom {

// repos/llm.c/ → repos/llm.c.fathom-scan; "." → the folder's own name, beside it.
Result<std::filesystem::path> default_scan_directory(const std::string& repository);

// What is asked of a repository.
struct ScanRequest {
  std::string repository;
  std::vector<std::string> parameters;  // NAME=VALUE: what the kernels work on
  std::string platform;                 // GPU, by its name or a file; empty: none
  std::string kernels;                  // pattern of those that get a story; empty: all
  std::vector<std::string> counters;    // captures, traces and files of counters of its kernels
  OutputPlace place;                    // of the report
  bool writes = false;                  // the report to the place
  bool page = true;                     // report.html among it
  bool reuses = false;                  // a report of the same content there, instead of a scan
  size_t threads = 0;                   // 0: as many as help
  ProgressCallback progress;
};

// A report that lies in the place, of the same content.
struct KeptScan {
  std::filesystem::path directory;
  std::string screen;  // what the scan that wrote it printed
};

struct ScanResult {
  ScanReport report;             // of nothing where one was kept
  std::optional<KeptScan> kept;  // instead of a scan
  ReportListing written;
  std::vector<std::string> warnings;  // on what was asked for
  std::vector<std::string> notes;     // about files that were in the way of the report
};

// Reads the repository, tells its stories and, where asked to, writes the report, whole or not at
// all. Fails where the pattern fits no kernel.
Result<ScanResult> scan(const ScanRequest& request);

// What scan.json holds, or only the parts named.
Result<std::string> scan_json(const ScanResult& result, const std::vector<std::string>& parts = {});

}  // namespace fathom
