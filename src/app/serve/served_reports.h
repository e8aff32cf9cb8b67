#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace fathom {

enum class ReportState : uint8_t { kWaiting, kReading, kAnalyzing, kReady, kFailed };

struct ServedReport {
  std::string name;                 // as the reader knows it
  std::filesystem::path directory;  // absolute
  std::string trace;                // it is made from; empty: it was there
  ReportState state = ReportState::kReady;
  double fraction = -1;  // of the reading; below 0: not known
  std::string message;   // why it failed
};

// The reports that are served, and how far those are that are still being made. Used by the server
// and by the thread that makes reports.
class ServedReports {
 public:
  void add(ServedReport report) { reports_.push_back(std::move(report)); }
  size_t size() const { return reports_.size(); }
  const ServedReport& at(size_t i) const { return reports_[i]; }  // name, directory, trace

  void set(size_t i, ReportState state, double fraction = -1, std::string message = {});
  // What the list page shows, as JSON, on one line; the number rises with each change.
  std::string json() const;
  uint64_t version() const;

  // A regular file of a finished report. No link is followed, below the directory or in it.
  FileDescriptor open(size_t i, const std::vector<std::string>& path) const;

 private:
  mutable std::mutex mutex_;
  uint64_t version_ = 1;
  std::vector<ServedReport> reports_;
};

// The reports that an argument names: a report directory, or a directory of them.
Result<std::vector<ServedReport>> reports_below(const std::string& given);

}  // namespace fathom
