#include "session/code/run_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "base/count_text.h"
#include "base/file_descriptor.h"
#include "session/code/bench.h"

namespace fathom::run_files {
namespace {

namespace fs = std::filesystem;

constexpr const char* kOwnFolders[] = {"logs", "captures", "stories", "tables", "pictures"};

bool is_plain_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error));
}

}  // namespace

Status prepare_folder(const fs::path& out) {
  std::error_code error;
  fs::create_directories(out, error);
  if (error) return Error{fmt::format("cannot make {}: {}", out.string(), error.message())};
  if (!is_plain_file(out / "journal") && !fs::is_empty(out, error)) {
    return Error{
        fmt::format("{} is not empty and holds no run of a plan; choose another folder with --out",
                    out.string())};
  }
  for (const char* name : kOwnFolders) {
    const fs::path folder = out / name;
    if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
      return Error{fmt::format("cannot make {}: {}", folder.string(), std::strerror(errno))};
    if (!fs::is_directory(fs::symlink_status(folder, error)))
      return Error{
          fmt::format("{} is no folder; nothing is written through a link", folder.string())};
  }
  return Nothing{};
}

Status write_whole_file(const fs::path& path, std::string_view content) {
  const fs::path part = path.string() + ".part";
  unlink(part.c_str());
  const FileDescriptor file(
      open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
  const auto failed = [&] {
    const std::string why = std::strerror(errno);
    if (file.ok()) unlink(part.c_str());
    return Error{fmt::format("cannot write {}: {}", path.string(), why)};
  };
  if (!file.ok()) return failed();
  while (!content.empty()) {
    const ssize_t wrote = write(file.get(), content.data(), content.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return failed();
    content.remove_prefix(static_cast<size_t>(wrote));
  }
  if (rename(part.c_str(), path.c_str()) != 0) return failed();
  return Nothing{};
}

fs::path log_of(const fs::path& out, const ScheduledRun& run) {
  return out / "logs" / (run.name + ".log");
}

fs::path capture_of(const fs::path& out, const ScheduledRun& run) {
  return out / "captures" / (run.name + ".capture");
}

void remove_files_of(const fs::path& out, const ScheduledRun& run) {
  for (const fs::path& path : captures_at(capture_of(out, run))) unlink(path.c_str());
  unlink(log_of(out, run).c_str());
}

std::vector<fs::path> recordings_in(const fs::path& folder, const Experiment& experiment,
                                    const ScheduledRun& run) {
  std::vector<fs::path> names = {folder / "captures" / (run.name + ".capture"),
                                 folder / (run.name + ".capture")};
  const Configuration* configuration = configuration_of(experiment, run.configuration);
  if (run.number == 0) names.push_back(folder / capture_name(experiment, configuration));
  for (const fs::path& name : names) {
    const std::vector<fs::path> found = captures_at(name);
    if (!found.empty()) return found;
  }
  for (const char* extension : {".json", ".json.gz", ".sqlite"}) {
    const fs::path trace = folder / (run.name + extension);
    if (is_plain_file(trace)) return {trace};
  }
  return {};
}

fs::path log_in(const fs::path& folder, const ScheduledRun& run) {
  for (const fs::path& path : {log_of(folder, run), folder / (run.name + ".log")}) {
    if (is_plain_file(path)) return path;
  }
  return {};
}

KeptFiles kept_files(const fs::path& out, const ScheduledRun& run) {
  KeptFiles files;
  std::error_code error;
  const fs::path log = log_of(out, run);
  if (is_plain_file(log)) files.log_size = fs::file_size(log, error);
  if (error) files.log_size.reset();
  files.captures = captures_at(capture_of(out, run)).size();
  return files;
}

std::string lost_files(const fs::path& out, const ScheduledRun& run, const KeptFiles& kept) {
  const KeptFiles now = kept_files(out, run);
  std::vector<std::string> lost;
  if (kept.log_size && !now.log_size)
    lost.push_back(fmt::format("its log is gone ({} bytes)", *kept.log_size));
  else if (kept.log_size && *now.log_size != *kept.log_size)
    lost.push_back(
        fmt::format("its log has {} bytes where it had {}", *now.log_size, *kept.log_size));
  if (now.captures < kept.captures)
    lost.push_back(fmt::format("{} of {} gone", kept.captures - now.captures,
                               counted(kept.captures, "capture")));
  return fmt::format("{}", fmt::join(lost, ", "));
}

JournalRecord finished_record(const ScheduledRun& run, const TrialEnd& end,
                              const KeptFiles& files) {
  JournalRecord record("finished");
  record.put("run", run.name)
      .put("end", std::to_string(static_cast<int>(end.kind)))
      .put("code", std::to_string(end.code))
      .put("why", end.why)
      .put("wall_ns", std::to_string(end.wall_ns))
      .put("user_ns", std::to_string(end.user_ns))
      .put("system_ns", std::to_string(end.system_ns))
      .put("log_bytes", std::to_string(end.log_bytes));
  if (files.log_size) record.put("log_size", std::to_string(*files.log_size));
  if (files.captures > 0) record.put("captures", std::to_string(files.captures));
  if (end.max_rss_bytes) record.put("max_rss_bytes", std::to_string(*end.max_rss_bytes));
  if (end.log_cut) record.put("log_cut", "1");
  return record;
}

std::map<std::string, FinishedRun> finished_runs(const std::vector<JournalRecord>& records) {
  std::map<std::string, FinishedRun> finished;
  size_t session = 0;
  for (const JournalRecord& record : records) {
    if (record.kind == "machine") ++session;
    if (record.kind != "finished" || record.get("run").empty()) continue;
    TrialEnd end;
    const int64_t kind = record.integer("end").value_or(0);
    if (kind < 0 || kind > static_cast<int64_t>(EndKind::kInterrupted)) continue;
    end.kind = static_cast<EndKind>(kind);
    end.code = static_cast<int>(record.integer("code").value_or(0));
    end.why = std::string(record.get("why"));
    end.wall_ns = record.integer("wall_ns").value_or(0);
    end.user_ns = record.integer("user_ns").value_or(0);
    end.system_ns = record.integer("system_ns").value_or(0);
    end.log_bytes = static_cast<uint64_t>(record.integer("log_bytes").value_or(0));
    end.max_rss_bytes = record.integer("max_rss_bytes");
    end.log_cut = !record.get("log_cut").empty();
    KeptFiles files;
    if (const auto size = record.integer("log_size"); size && *size >= 0)
      files.log_size = static_cast<uint64_t>(*size);
    files.captures =
        static_cast<size_t>(std::max<int64_t>(0, record.integer("captures").value_or(0)));
    // The last one counts: its files are those that are there.
    finished.insert_or_assign(std::string(record.get("run")),
                              FinishedRun{std::move(end), files, session});
  }
  return finished;
}

}  // namespace fathom::run_files
