#include "trial/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include "base/hash.h"

namespace fathom {
namespace {

constexpr std::string_view kJournalHead = "fathom journal 1\n";
constexpr size_t kLargestJournal = 256 << 20;

std::string journal_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\\\";
        break;
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string journal_unescaped(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    out += c == 't' ? '\t' : c == 'n' ? '\n' : c;
  }
  return out;
}

std::string line_hash(std::string_view body) { return fmt::format("{:016x}", hash_text(body)); }

std::optional<JournalRecord> parse_line(std::string_view line) {
  if (line.size() < 17 || line[16] != '\t') return std::nullopt;
  std::string_view body = line.substr(17);
  if (line_hash(body) != line.substr(0, 16)) return std::nullopt;
  JournalRecord record;
  bool first = true;
  while (true) {
    const size_t end = std::min(body.find('\t'), body.size());
    const std::string_view part = body.substr(0, end);
    if (first) {
      record.kind = journal_unescaped(part);
    } else if (const size_t equals = part.find('='); equals != std::string_view::npos) {
      record.put(std::string(part.substr(0, equals)), journal_unescaped(part.substr(equals + 1)));
    }
    first = false;
    if (end == body.size()) return record;
    body.remove_prefix(end + 1);
  }
}

std::string system_word() { return std::strerror(errno); }

bool write_whole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return true;
}

// A file that was just made is found after a power cut only where its folder is written too.
void sync_folder(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const FileDescriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.ok()) fsync(fd.get());
}

}  // namespace

std::string_view JournalRecord::get(std::string_view name) const {
  for (const auto& [key, value] : fields) {
    if (key == name) return value;
  }
  return {};
}

std::optional<double> JournalRecord::number(std::string_view name) const {
  return journal_number(get(name));
}

std::optional<double> journal_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() ||
      !std::isfinite(value))
    return std::nullopt;
  return value;
}

std::optional<int64_t> JournalRecord::integer(std::string_view name) const {
  const std::string_view text = get(name);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<JournalRecord> parse_journal(std::string_view text, size_t& good, size_t& damaged) {
  std::vector<JournalRecord> records;
  good = damaged = 0;
  if (!text.starts_with(kJournalHead)) return records;
  good = kJournalHead.size();
  while (good < text.size()) {
    const size_t end = text.find('\n', good);
    if (end == std::string_view::npos) break;  // being written when the program was killed
    if (std::optional<JournalRecord> record = parse_line(text.substr(good, end - good)))
      records.push_back(std::move(*record));
    else
      ++damaged;
    good = end + 1;
  }
  return records;
}

Result<Journal> Journal::open(const std::filesystem::path& path) {
  Journal journal;
  journal.shown_ = path.string();
  journal.file_ = FileDescriptor(::open(
      path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644));
  const int fd = journal.file_.get();
  if (fd < 0) return Error{fmt::format("cannot open {}: {}", journal.shown_, system_word())};
  struct stat facts = {};
  if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode))
    return Error{fmt::format("{} is no plain file", journal.shown_)};
  if (flock(fd, LOCK_EX | LOCK_NB) != 0)
    return Error{fmt::format("{} is in use by another run", journal.shown_)};
  if (fstat(fd, &facts) != 0 || static_cast<uint64_t>(facts.st_size) > kLargestJournal)
    return Error{fmt::format("{} is larger than a journal can be", journal.shown_)};
  std::string text(static_cast<size_t>(facts.st_size), '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = pread(fd, text.data() + have, text.size() - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<size_t>(got);
  }
  text.resize(have);
  // Killed within its first line.
  const bool is_new = kJournalHead.starts_with(text) && text != kJournalHead;
  if (!is_new && !text.starts_with(kJournalHead))
    return Error{fmt::format("{} is not a fathom journal", journal.shown_)};
  size_t good = 0;
  journal.records_ = parse_journal(text, good, journal.damaged_);
  if (good != text.size() && ftruncate(fd, static_cast<off_t>(good)) != 0)
    return Error{fmt::format("cannot write {}: {}", journal.shown_, system_word())};
  if (is_new) {
    if (!write_whole(fd, kJournalHead) || fsync(fd) != 0)
      return Error{fmt::format("cannot write {}: {}", journal.shown_, system_word())};
    sync_folder(path);
  }
  return journal;
}

Status Journal::append(const JournalRecord& record) {
  std::string body = journal_escaped(record.kind);
  for (const auto& [name, value] : record.fields)
    body += '\t' + journal_escaped(name) + '=' + journal_escaped(value);
  if (!write_whole(file_.get(), line_hash(body) + '\t' + body + '\n') ||
      fdatasync(file_.get()) != 0)
    return Error{fmt::format("cannot write {}: {}", shown_, system_word())};
  return Nothing{};
}

}  // namespace fathom
