#include "base/staging.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

#include "base/directory_entries.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = ".fathom-tmp-";
constexpr size_t kDigits = 16;
constexpr const char* kLock = "lock";
constexpr const char* kContent = "new";

std::string lock_text(std::string_view name) {
  return fmt::format(
      "Fathom writes here until it moves the result to its place. Directory: {}\nA run removes it "
      "once nobody holds the lock of this file.\n",
      name);
}

// With what signals wait for, the one global state below app/: neither a signal nor an exhausted
// heap can be handed an object. A slot is written before it is marked as used, and its folder stays
// open meanwhile.
struct Slot {
  enum State { kFree, kTaken, kUsed };
  std::atomic<int> state = kFree;
  int folder = -1;
  char name[kPrefix.size() + kDigits + 1] = {};
};
constinit std::array<Slot, 16> slots;

constinit std::atomic<int> uninterrupted = 0, postponed = 0;

// Without a free slot the directory is still removed with its object, or by the next run.
int take_slot(int folder, const std::string& name) {
  for (size_t i = 0; i < slots.size(); ++i) {
    int expected = Slot::kFree;
    if (!slots[i].state.compare_exchange_strong(expected, Slot::kTaken)) continue;
    slots[i].folder = folder;
    std::copy_n(name.c_str(), name.size() + 1, slots[i].name);
    slots[i].state = Slot::kUsed;
    return static_cast<int>(i);
  }
  return -1;
}

// The lock goes last, or what a second kill leaves would be nobody's.
bool remove_staging(int folder, const char* name) {
  // An empty one is removed even where no descriptor is left to look into it.
  if (unlinkat(folder, name, AT_REMOVEDIR) == 0) return true;
  char content[sizeof(Slot::name) + 8];
  const auto end = fmt::format_to_n(content, sizeof(content) - 1, "{}/{}", name, kContent);
  *end.out = '\0';
  return remove_tree(folder, content) && remove_tree(folder, name);
}

bool says(int lock, const std::string& text) {
  std::string found(text.size() + 1, '\0');
  const ssize_t got = pread(lock, found.data(), found.size(), 0);
  return got == static_cast<ssize_t>(text.size()) && found.starts_with(text);
}

bool is_stale(int folder, const std::string& name, FileDescriptor& lock) {
  const FileDescriptor directory = open_directory(folder, name);
  struct stat status = {};
  if (!directory.ok() || fstat(directory.get(), &status) != 0 || status.st_uid != geteuid())
    return false;
  lock = open_regular_file(directory.get(), kLock);
  // A kill between the making of the folder and of its lock leaves it empty.
  constexpr time_t kSurelyLeft = 3600;  // seconds
  if (!lock.ok())
    return std::time(nullptr) - status.st_mtime > kSurelyLeft &&
           entries_of(directory.get()).empty();
  return says(lock.get(), lock_text(name)) && flock(lock.get(), LOCK_EX | LOCK_NB) == 0;
}

Error last_error(int& code) {
  code = errno;
  return Error{std::strerror(code)};
}

bool is_own_limit(int code) { return code == EMFILE || code == ENFILE || code == EFBIG; }

std::string cannot_write_in(const fs::path& folder, const std::string& why) {
  const std::string shown = folder.empty() ? "the current folder" : folder.string();
  return fmt::format("cannot write in {}: {}", shown, why);
}

}  // namespace

std::string_view remedy_of(int code) {
  if (code == EFBIG)
    return "raise the limit of file sizes (ulimit -f), or choose another place with --out";
  if (is_own_limit(code)) return "raise the limit of open files (ulimit -n)";
  return "choose another place with --out";
}

bool is_staging_name(std::string_view name) {
  return name.size() == kPrefix.size() + kDigits && name.starts_with(kPrefix) &&
         name.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

Status check_file_place(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (fs::is_directory(status))
    return Error{fmt::format("{} is a directory; name a file", file.string())};
  if (fs::exists(status) && !fs::is_regular_file(status))
    return Error{fmt::format("{} is a device, pipe or socket; name a file", file.string())};
  return Nothing{};
}

Result<StagingDirectory> StagingDirectory::create(const fs::path& folder, const fs::path& shown) {
  int code = 0;
  Result<StagingDirectory> made = make_in(folder, code);
  if (made.ok()) return made;
  return Error{
      fmt::format("{}; {}", cannot_write_in(shown, made.error().message), remedy_of(code))};
}

std::optional<std::string> StagingDirectory::refusal(const fs::path& folder,
                                                     const fs::path& shown) {
  int code = 0;
  const Result<StagingDirectory> made = make_in(folder, code);
  if (made.ok() || is_own_limit(code)) return {};
  return cannot_write_in(shown, made.error().message);
}

Result<StagingDirectory> StagingDirectory::make_in(const fs::path& folder, int& code) {
  StagingDirectory made;
  made.folder_ = FileDescriptor(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!made.folder_.ok()) return last_error(code);
  remove_stale_staging(made.folder_.get());
  uint64_t random = 0;
  if (getrandom(&random, sizeof(random), 0) != sizeof(random)) return last_error(code);
  const std::string name = fmt::format("{}{:016x}", kPrefix, random);
  if (mkdirat(made.folder_.get(), name.c_str(), 0700) != 0) return last_error(code);
  made.name_ = name;  // from here on the object removes it
  made.slot_ = take_slot(made.folder_.get(), name);
  made.directory_ = open_directory(made.folder_.get(), name);
  if (!made.directory_.ok()) return last_error(code);
  // Locked before it says what it is: words without a lock mean that the owner is dead.
  made.lock_ = FileDescriptor(openat(made.directory_.get(), kLock,
                                     O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!made.lock_.ok()) return last_error(code);
  (void)flock(made.lock_.get(), LOCK_EX | LOCK_NB);  // without locks it is left to the object
  const std::string text = lock_text(name);
  if (write(made.lock_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()) ||
      mkdirat(made.directory_.get(), kContent, 0777) != 0) {
    return last_error(code);
  }
  made.content_ = folder / name / kContent;
  return made;
}

StagingDirectory::StagingDirectory(StagingDirectory&& other) noexcept
    : folder_(std::move(other.folder_)),
      directory_(std::move(other.directory_)),
      lock_(std::move(other.lock_)),
      name_(std::exchange(other.name_, {})),
      content_(std::move(other.content_)),
      slot_(std::exchange(other.slot_, -1)) {}

StagingDirectory::~StagingDirectory() {
  if (slot_ >= 0) slots[static_cast<size_t>(slot_)].state = Slot::kTaken;
  lock_ = FileDescriptor(), directory_ = FileDescriptor();  // removing needs them, if few are left
  if (!name_.empty()) remove_staging(folder_.get(), name_.c_str());
  if (slot_ >= 0) slots[static_cast<size_t>(slot_)].state = Slot::kFree;
}

void remove_all_staging() {
  // Other threads may still be writing: again, until the directory stays away.
  constexpr int kTries = 100;
  for (Slot& slot : slots) {
    for (int i = 0; i < kTries && slot.state == Slot::kUsed; ++i) {
      if (remove_staging(slot.folder, slot.name)) break;
    }
  }
}

Uninterrupted::Uninterrupted() { ++uninterrupted; }

Uninterrupted::~Uninterrupted() {
  if (--uninterrupted > 0) return;
  if (const int signal = postponed.exchange(0)) raise(signal);
}

bool postpones(int signal) {
  if (uninterrupted == 0) return false;
  postponed = signal;
  // Over meanwhile, on another thread, which may not have seen it.
  return uninterrupted > 0 || postponed.exchange(0) == 0;
}

void remove_stale_staging(int folder) {
  for (const std::string& name : entries_of(folder)) {
    FileDescriptor lock;  // held until it is gone
    if (is_staging_name(name) && is_stale(folder, name, lock)) {
      remove_staging(folder, name.c_str());
    }
  }
}

}  // namespace fathom
