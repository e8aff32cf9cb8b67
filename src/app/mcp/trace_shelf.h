#pragma once

#include <filesystem>
#include <list>
#include <memory>
#include <string>

#include "app/code/model_options.h"
#include "duck/database.h"
#include "session/query/trace_tables.h"

namespace fathom {

// A trace that stays open between questions.
struct ShelvedTrace {
  std::string path;
  std::unique_ptr<TraceModel> model;
  std::unique_ptr<TraceTables> tables;
};

// The traces that were asked of last, each by its path. An older one is closed where there are too
// many: its next question opens it again.
class TraceShelf {
 public:
  // Only what lies below `root` is opened; empty: anything that this user can read.
  TraceShelf(std::filesystem::path root, const DuckLimits& limits)
      : root_(std::move(root)), limits_(limits) {}

  // Opens it anew, with what belongs to it.
  Result<ShelvedTrace*> open(const std::string& path, const ModelArguments& arguments);
  // As it is open, or opened without anything else.
  Result<ShelvedTrace*> get(const std::string& path);
  // Refuses what lies outside of the root, pipes and devices.
  Status check_path(const std::string& path) const;
  // Of a query.
  const DuckLimits& limits() const { return limits_; }

 private:
  static constexpr size_t kMost = 4;
  std::filesystem::path root_;
  DuckLimits limits_;
  std::list<ShelvedTrace> traces_;  // the one that was asked of last first
};

}  // namespace fathom
