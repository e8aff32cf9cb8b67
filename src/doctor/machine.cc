#include "doctor/machine.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/file_descriptor.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = 64 << 10;
constexpr size_t kMostEntries = 4096;

std::optional<std::string> read_start(const fs::path& path) {
  // Without O_NONBLOCK a FIFO would wait for its writer.
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status = {};
  if (!file.ok() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::string text(kMostBytes, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + size, text.size() - size);
    if (got < 0 && size == 0) return {};
    if (got <= 0) break;
    size += static_cast<size_t>(got);
  }
  text.resize(size);
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return text;
}

}  // namespace

Machine this_machine(const char* const* environment) {
  Machine machine;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view text = *environment;
    const size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      machine.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return machine;
}

fs::path Machine::at(std::string_view path) const {
  return is_this_one() ? fs::path(path) : root / fs::path(path).relative_path();
}

std::string Machine::shown(const fs::path& path) const {
  if (is_this_one()) return path.string();
  const std::string text = path.string(), base = root.string();
  return text.starts_with(base) ? text.substr(base.size()) : text;
}

std::string Machine::variable(std::string_view name) const {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string() : found->second;
}

bool Machine::exists(std::string_view path) const {
  std::error_code error;
  return fs::exists(at(path), error);
}

std::optional<std::string> Machine::read(std::string_view path) const {
  return read_start(at(path));
}

std::optional<std::string> Machine::read_guarded(std::string_view path) const {
  if (!exists(path)) return std::nullopt;
  const ChildAnswer answer = ask_child(
      [this, path](int out) {
        if (const auto text = read(path)) write_answer(out, *text);
      },
      patience);
  return answer.end == ChildAnswer::End::kDone ? std::optional(answer.text) : std::nullopt;
}

std::vector<std::string> Machine::list(std::string_view path) const {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(at(path), fs::directory_options::skip_permission_denied, error);
  while (!error && entry != fs::directory_iterator() && names.size() < kMostEntries) {
    names.push_back(entry->path().filename().string());
    entry.increment(error);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace fathom
