#include "app/serve/served_reports.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/directory_entries.h"
#include "base/json_writer.h"
#include "base/screen_text.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPage = "report.html";
constexpr size_t kMostReports = 500;
constexpr size_t kMostFiles = 200;

const char* name_of(ReportState state) {
  switch (state) {
    case ReportState::kWaiting:
      return "waiting";
    case ReportState::kReading:
      return "reading";
    case ReportState::kAnalyzing:
      return "analyzing";
    case ReportState::kReady:
      return "ready";
    case ReportState::kFailed:
      return "failed";
  }
  return "";
}

FileDescriptor open_absolute(const fs::path& directory) {
  return FileDescriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

void put_files(JsonWriter& json, const fs::path& path) {
  json.key("files").begin_array();
  const FileDescriptor directory = open_absolute(path);
  size_t put = 0;
  for (const std::string& name :
       directory.ok() ? entries_of(directory.get()) : std::vector<std::string>()) {
    if (name.starts_with('.') || put == kMostFiles) continue;
    if (!open_regular_file(directory.get(), name.c_str()).ok()) continue;
    json.value(name);
    ++put;
  }
  json.end_array();
}

}  // namespace

void ServedReports::set(size_t i, ReportState state, double fraction, std::string message) {
  const std::lock_guard lock(mutex_);
  ServedReport& report = reports_[i];
  report.state = state;
  report.fraction = fraction;
  report.message = std::move(message);
  ++version_;
}

uint64_t ServedReports::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

std::string ServedReports::json() const {
  const std::lock_guard lock(mutex_);
  JsonWriter json(false);
  json.begin_object().key("reports").begin_array();
  for (const ServedReport& report : reports_) {
    json.begin_object();
    json.key("name").value(screen_safe(report.name));
    json.key("directory").value(screen_safe(report.directory.string()));
    json.key("state").value(name_of(report.state));
    if (report.fraction >= 0) json.key("fraction").value(report.fraction);
    if (!report.message.empty()) json.key("message").value(screen_safe(report.message));
    if (report.state == ReportState::kReady) put_files(json, report.directory);
    json.end_object();
  }
  json.end_array().end_object();
  return json.take();
}

FileDescriptor ServedReports::open(size_t i, const std::vector<std::string>& path) const {
  {
    const std::lock_guard lock(mutex_);
    if (i >= reports_.size() || reports_[i].state != ReportState::kReady || path.empty()) return {};
  }
  FileDescriptor directory = open_absolute(reports_[i].directory);
  for (size_t part = 0; part + 1 < path.size() && directory.ok(); ++part)
    directory = open_directory(directory.get(), path[part]);
  return directory.ok() ? open_regular_file(directory.get(), path.back().c_str())
                        : FileDescriptor();
}

Result<std::vector<ServedReport>> reports_below(const std::string& given) {
  std::error_code error;
  const fs::path path = fs::canonical(given, error);
  if (error) return Error{fmt::format("cannot open {}: {}", given, error.message())};
  const FileDescriptor directory = open_absolute(path);
  if (!directory.ok()) return Error{fmt::format("cannot open {}: {}", given, std::strerror(errno))};
  const auto report = [](const fs::path& at) {
    ServedReport one;
    one.name = at.filename().string();
    one.directory = at;
    return one;
  };
  if (open_regular_file(directory.get(), kPage).ok()) return std::vector{report(path)};
  std::vector<ServedReport> found;
  for (const std::string& name : entries_of(directory.get())) {
    if (name.starts_with('.')) continue;
    const FileDescriptor below = open_directory(directory.get(), name);
    if (!below.ok() || !open_regular_file(below.get(), kPage).ok()) continue;
    if (found.size() == kMostReports)
      return Error{
          fmt::format("{} holds over {} reports; name those to show", given, kMostReports)};
    found.push_back(report(path / name));
  }
  if (found.empty())
    return Error{
        fmt::format("{} has no report.html, in it or one level below; fathom analyze and "
                    "the other commands write one unless --no-html is given",
                    given)};
  return found;
}

}  // namespace fathom
