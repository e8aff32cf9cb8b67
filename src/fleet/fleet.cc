#include "fleet/fleet.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <set>

#include "base/ascii.h"
#include "base/file_descriptor.h"
#include "base/tsv.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPerJob = "# traces_per_job\t";

bool looks_like_trace(std::string_view name) {
  for (const std::string_view packed : {".gz", ".zst"})
    if (name.ends_with(packed)) name.remove_suffix(packed.size());
  for (const std::string_view ending :
       {".json", ".capture", ".sqlite", ".pftrace", ".perfetto-trace", ".db"})
    if (name.ends_with(ending)) return true;
  return false;
}

// "run 3/rank0.pt.trace.json.gz" → "run-3-rank0.pt.trace".
std::string part_name(std::string_view path) {
  for (const std::string_view ending : {".gz", ".zst", ".json", ".capture", ".sqlite"})
    if (path.ends_with(ending)) path.remove_suffix(ending.size());
  constexpr size_t kLongest = 120;
  if (path.size() > kLongest) path.remove_prefix(path.size() - kLongest);
  std::string name;
  for (const char c : path) name += is_letter(c) || is_digit(c) || c == '.' || c == '_' ? c : '-';
  const size_t first = name.find_first_not_of(".-");
  return first == std::string::npos ? "trace" : name.substr(first);
}

class Finder {
 public:
  Status add(const std::string& path) {
    std::error_code error;
    const fs::path whole = fs::absolute(path, error).lexically_normal();
    const fs::file_status status = fs::status(whole, error);
    if (fs::is_directory(status)) {
      add_folder(whole);
      return Nothing{};
    }
    if (!fs::is_regular_file(status))
      return Error{fmt::format(
          "{}: {}", path,
          fs::exists(status) ? "neither a file nor a folder" : "no such file or folder")};
    add_file(whole, whole.filename().string());
    return Nothing{};
  }

  FoundTraces take() {
    std::ranges::sort(found_, {},
                      [](const auto& f) -> const std::string& { return f.first.trace; });
    const auto again = std::ranges::unique(
        found_, {}, [](const auto& f) -> const std::string& { return f.first.trace; });
    found_.erase(again.begin(), again.end());
    FoundTraces traces;
    std::set<std::string> used;
    for (auto& [task, wanted] : found_) {
      task.part = wanted;
      for (int n = 2; !used.insert(task.part).second; ++n)
        task.part = fmt::format("{}-{}", wanted, n);
      traces.tasks.push_back(std::move(task));
    }
    traces.notes = std::move(notes_);
    return traces;
  }

 private:
  void add_folder(const fs::path& root) {
    std::error_code error;
    fs::recursive_directory_iterator it(root, fs::directory_options::skip_permission_denied, error);
    for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
      const fs::path& path = it->path();
      std::error_code here;
      if (it->symlink_status(here).type() == fs::file_type::directory) {
        // Reports, fleets and what is hidden hold JSON that is no trace.
        if (path.filename().string().starts_with('.') || fs::exists(path / ".fathom-report", here))
          it.disable_recursion_pending();
        continue;
      }
      const std::string name = path.filename().string();
      if (it->symlink_status(here).type() != fs::file_type::regular || name.starts_with('.') ||
          !looks_like_trace(name))
        continue;
      add_file(path, path.lexically_relative(root).string());
    }
    if (error)
      notes_.push_back(
          fmt::format("{} could not be listed to its end: {}", root.string(), error.message()));
  }

  void add_file(const fs::path& path, const std::string& shown) {
    if (path.string().find_first_of("\t\n\r") != std::string::npos) {
      notes_.push_back(
          fmt::format("{} is left out: its name has a tab or a line break", path.string()));
      return;
    }
    std::error_code error;
    const auto bytes = static_cast<int64_t>(fs::file_size(path, error));
    found_.push_back({{{}, path.string(), error ? 0 : bytes}, part_name(shown)});
  }

  std::vector<std::pair<FleetTask, std::string>> found_;
  std::vector<std::string> notes_;
};

}  // namespace

Result<FoundTraces> find_traces(const std::vector<std::string>& paths) {
  Finder finder;
  for (const std::string& path : paths) TRY(finder.add(path));
  return finder.take();
}

std::string tasks_text(const Fleet& fleet) {
  std::string out =
      fmt::format("# Traces of this fleet; fathom fleet plan wrote it.\n{}{}\npart\tbytes\ttrace\n",
                  kPerJob, fleet.traces_per_job);
  for (const FleetTask& task : fleet.tasks)
    out += fmt::format("{}\t{}\t{}\n", task.part, task.bytes, task.trace);
  return out;
}

std::optional<std::string> read_fleet_file(const fs::path& path, size_t limit) {
  // O_NONBLOCK: opening must not wait before it is known what was opened.
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!file.ok() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::string text;
  char piece[16 << 10];
  while (true) {
    const ssize_t got = read(file.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) return text;
    text.append(piece, static_cast<size_t>(got));
    if (text.size() > limit) return {};
  }
}

Result<Fleet> read_fleet(const fs::path& directory) {
  std::error_code error;
  Fleet fleet;
  fleet.directory = fs::canonical(directory, error);
  constexpr size_t kLargestList = 64 << 20;
  const std::optional<std::string> read =
      read_fleet_file(fleet.directory / "tasks.tsv", kLargestList);
  if (error || !read)
    return Error{fmt::format("{} holds no tasks.tsv; fathom fleet plan TRACES --to {} makes one",
                             directory.string(), directory.string())};
  const std::string& text = *read;
  const Error damaged{fmt::format("{}: not what fathom fleet plan writes; plan again",
                                  (directory / "tasks.tsv").string())};
  const size_t per_job = text.find(kPerJob);
  if (per_job == std::string::npos) return damaged;
  const char* from = text.data() + per_job + kPerJob.size();
  if (std::from_chars(from, text.data() + text.size(), fleet.traces_per_job).ec != std::errc() ||
      fleet.traces_per_job < 1)
    return damaged;
  for (const auto& row : read_tsv(text, 3)) {
    FleetTask task{std::string(row[0]), std::string(row[2]), 0};
    // The trace becomes a word of a command: a path, so that it is no option.
    if (!task.trace.starts_with('/') || part_name(task.part) != task.part) return damaged;
    std::from_chars(row[1].data(), row[1].data() + row[1].size(), task.bytes);
    fleet.tasks.push_back(std::move(task));
  }
  if (fleet.tasks.empty()) return damaged;
  return fleet;
}

}  // namespace fathom
