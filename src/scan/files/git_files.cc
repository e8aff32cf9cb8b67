#include "scan/files/git_files.h"

#include <algorithm>

#include "base/hash.h"
#include "scan/facts/text_lines.h"
#include "scan/files/source_text.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> path_in_file(const fs::path& file, std::string_view before) {
  const Result<std::string> text = read_source_text(file, 1u << 16);
  if (!text.ok()) return {};
  std::string_view line = without_blanks_around(text.value());
  if (!line.starts_with(before)) return {};
  line = without_blanks_around(line.substr(before.size()));
  if (line.empty() || holds(line, '\n')) return {};
  return file.parent_path() / line;
}

// Numbers and names of an index; `ok` is false once it ended too early.
class IndexReader {
 public:
  explicit IndexReader(std::string_view bytes) : bytes_(bytes) {}

  bool ok = true;

  uint32_t number(size_t size) {
    uint32_t value = 0;
    for (const char c : take(size)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view take(size_t size) {
    if (size > bytes_.size()) ok = false;
    const std::string_view taken = bytes_.substr(0, ok ? size : 0);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  std::string_view until_zero() {
    const size_t end = bytes_.find('\0');
    const std::string_view taken = take(end == std::string_view::npos ? bytes_.size() + 1 : end);
    take(1);
    return taken;
  }
  size_t left() const { return bytes_.size(); }
  // Seven bits in each byte, the first the highest; one is added for each byte that follows.
  size_t offset() {
    uint32_t byte = number(1);
    size_t value = byte & 127;
    for (int i = 0; i < 8 && ok && (byte & 128) != 0; ++i) {
      byte = number(1);
      value = (value + 1) << 7 | (byte & 127);
    }
    return value;
  }

 private:
  std::string_view bytes_;
};

// A path with the hash of each of its beginnings, so that one that shares a beginning with the one
// before costs only what is new.
class HashedPath {
 public:
  // Longer ones cannot be opened.
  static constexpr size_t kMaxBytes = 4096;

  size_t size() const { return size_; }
  void shorten(size_t size) {
    size_ = size;
    if (hashes_.size() > size + 1) hashes_.resize(size + 1);
  }
  // Folders that are met on the way are added to the list.
  void append(std::string_view text, std::vector<uint64_t>& folders) {
    for (const char c : text) {
      if (hashes_.size() == size_ + 1 && size_ < kMaxBytes) {
        if (c == '/') folders.push_back(hashes_.back());
        hashes_.push_back(step(hashes_.back(), c));
      }
      ++size_;
    }
  }
  // Nothing: it is too long.
  std::optional<uint64_t> hash() const {
    if (size_ > kMaxBytes) return {};
    return hashes_.back();
  }

  static uint64_t hash_of(std::string_view text) {
    uint64_t hash = 0;
    for (const char c : text) hash = step(hash, c);
    return hash;
  }

 private:
  static uint64_t step(uint64_t hash, char c) {
    return mix_bits(hash, static_cast<unsigned char>(c) + 1u);
  }
  std::vector<uint64_t> hashes_ = {0};  // [n]: of the first n bytes
  size_t size_ = 0;
};

void sort_and_unite(std::vector<uint64_t>& hashes) {
  std::ranges::sort(hashes);
  hashes.erase(std::ranges::unique(hashes).begin(), hashes.end());
}

}  // namespace

std::optional<GitPlace> find_git(const fs::path& folder) {
  for (fs::path at = folder;; at = at.parent_path()) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(at / ".git", error);
    if (fs::is_directory(status) && fs::exists(at / ".git/HEAD", error)) {
      return GitPlace{at, at / ".git", at / ".git"};
    }
    if (fs::is_regular_file(status)) {
      if (const auto directory = path_in_file(at / ".git", "gitdir:")) {
        return GitPlace{at, *directory,
                        path_in_file(*directory / "commondir", "").value_or(*directory)};
      }
    }
    if (!at.has_relative_path()) return {};
  }
}

std::optional<TrackedPaths> TrackedPaths::read(std::string_view index, size_t hash_bytes) {
  IndexReader in(index);
  if (in.take(4) != "DIRC") return {};
  const uint32_t version = in.number(4), count = in.number(4);
  if (!in.ok || version < 2 || version > 4) return {};
  TrackedPaths tracked;
  HashedPath path;
  for (uint32_t i = 0; i < count; ++i) {
    const size_t begin = in.left();
    in.take(40 + hash_bytes);
    const uint32_t flags = in.number(2);
    if ((flags & 0x4000) != 0) in.take(2);
    const size_t dropped = version == 4 ? in.offset() : path.size();
    if (dropped > path.size()) return {};
    path.shorten(path.size() - dropped);
    path.append(in.until_zero(), tracked.folders_);
    if (version != 4) in.take((8 - (begin - in.left()) % 8) % 8);
    // A hash of another length makes nonsense of the first entry.
    const uint32_t length = flags & 0xfff;
    if (!in.ok || path.size() == 0 || (length < 0xfff && path.size() != length)) return {};
    if (const auto hash = path.hash()) tracked.files_.push_back(*hash);
  }
  sort_and_unite(tracked.files_);
  sort_and_unite(tracked.folders_);
  return tracked;
}

std::optional<TrackedPaths> TrackedPaths::read(std::string_view index) {
  constexpr size_t kSha1 = 20, kSha256 = 32;
  if (auto tracked = read(index, kSha1)) return tracked;
  return read(index, kSha256);
}

bool TrackedPaths::has_file(std::string_view path) const {
  return std::ranges::binary_search(files_, HashedPath::hash_of(path));
}

bool TrackedPaths::has_folder(std::string_view path) const {
  return std::ranges::binary_search(folders_, HashedPath::hash_of(path));
}

std::vector<Submodule> read_gitmodules(std::string_view text) {
  std::vector<Submodule> modules;
  uint32_t number = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = without_blanks_around(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.starts_with('[')) {
      Submodule module;
      module.line = number;
      const size_t open = line.find('"'), close = line.rfind('"');
      if (open < close && close != std::string_view::npos) {
        module.name = line.substr(open + 1, close - open - 1);
      }
      modules.push_back(std::move(module));
      continue;
    }
    const size_t equals = line.find('=');
    if (modules.empty() || equals == std::string_view::npos || line.starts_with('#')) continue;
    const std::string_view key = without_blanks_around(line.substr(0, equals));
    std::string value(without_blanks_around(line.substr(equals + 1)));
    while (value.size() > 1 && value.ends_with('/')) value.pop_back();
    if (key == "path")
      modules.back().path = std::move(value);
    else if (key == "url")
      modules.back().url = std::move(value);
    else if (key == "branch")
      modules.back().branch = std::move(value);
  }
  std::erase_if(modules, [](const Submodule& module) { return module.path.empty(); });
  return modules;
}

}  // namespace fathom
