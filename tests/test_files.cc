#include "test_files.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/content_hash.h"

namespace fathom::test {

namespace fs = std::filesystem;

bool accept_goldens = false;

fs::path source_dir() { return FATHOM_SOURCE_DIR; }
std::string fathom_binary() { return FATHOM_BINARY; }
std::string fake_driver() { return FATHOM_FAKE_DRIVER; }
std::string counted_binary() { return FATHOM_COUNTED_BINARY; }

namespace {

std::vector<fs::path> traces_in(const fs::path& directory) {
  std::vector<fs::path> traces;
  if (!fs::exists(directory)) return traces;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().string().ends_with(".json.gz")) traces.push_back(entry.path());
  }
  std::ranges::sort(traces);
  return traces;
}

}  // namespace

std::vector<fs::path> example_traces() { return traces_in(source_dir() / "examples"); }

std::vector<fs::path> shared_traces() {
  const fs::path data = source_dir().parent_path() / "shared" / "data";
  std::vector<fs::path> traces = traces_in(data / "kineto");
  for (const fs::path& more : traces_in(data / "h200")) traces.push_back(more);
  return traces;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

void write_file(const fs::path& path, std::string_view content) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

std::vector<DataRow> read_data_rows(const fs::path& table) {
  std::istringstream lines(read_file(source_dir() / "data" / table));
  std::vector<DataRow> rows;
  std::string text;
  for (int line = 1; std::getline(lines, text); ++line) {
    if (text.empty() || text.starts_with('#')) continue;
    DataRow row{line, {""}};
    for (char c : text) c == '\t' ? void(row.cells.emplace_back()) : void(row.cells.back() += c);
    rows.push_back(std::move(row));
  }
  return rows;
}

TemporaryDirectory::TemporaryDirectory() {
  std::string name = (fs::temp_directory_path() / "fathom-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
  owner_ = getpid();
}

TemporaryDirectory::~TemporaryDirectory() {
  // A death test's child destroys a copy of what the test program holds.
  if (getpid() != owner_) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

namespace {

// What a golden file holds of a text: all of it, or of a long one the first lines, which a reader
// can check, and a line that stands for the rest.
std::string golden_text(const std::string& actual) {
  constexpr size_t kWhole = 40'000, kFirst = 20'000;
  if (actual.size() <= kWhole) return actual;
  const size_t end = actual.rfind('\n', kFirst) + 1;
  const std::string_view rest = std::string_view(actual).substr(end);
  return actual.substr(0, end) + fmt::format("… {} more lines, {} bytes, hash {:016x}\n",
                                             std::ranges::count(rest, '\n'), rest.size(),
                                             hash_content(rest));
}

}  // namespace

std::string compare_golden(const fs::path& golden, const std::string& whole) {
  const std::string actual = golden_text(whole);
  if (accept_goldens) {
    write_file(golden, actual);
    return {};
  }
  if (!fs::exists(golden)) return golden.string() + " does not exist; ./dev accept writes it";
  std::istringstream expected_lines(read_file(golden)), actual_lines(actual);
  std::string expected_line, actual_line;
  for (int line = 1;; ++line) {
    const bool more_expected = static_cast<bool>(std::getline(expected_lines, expected_line));
    const bool more_actual = static_cast<bool>(std::getline(actual_lines, actual_line));
    if (!more_expected && !more_actual) return {};
    if (more_expected != more_actual || expected_line != actual_line) {
      return golden.string() + ":" + std::to_string(line) +
             "\n  golden: " + (more_expected ? expected_line : "(end)") +
             "\n  now:    " + (more_actual ? actual_line : "(end)");
    }
  }
}

CommandResult run_command(const std::string& command, const fs::path& directory) {
  const TemporaryDirectory streams;
  const std::string out = (streams.path() / "out").string(),
                    err = (streams.path() / "err").string();
  const std::string full = "cd '" + directory.string() + "' && ( " + command + " ) </dev/null >'" +
                           out + "' 2>'" + err + "'";
  const int status = std::system(full.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out),
          read_file(err)};
}

}  // namespace fathom::test
