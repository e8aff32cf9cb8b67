#include "session/native_calls.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include "base/file_descriptor.h"
#include "base/mapped_file.h"
#include "base/units.h"
#include "probe/call_file.h"
#include "probe/native_probe.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

bool is_call(const probe::CallRecord& record) { return record.kind < probe::kNumber; }

constexpr const char* kNoRoom =
    "no room for them on the disk, in memory or below the limit on the size of files (ulimit -f)";

// LD_PRELOAD is a list with spaces or colons between.
bool can_be_preloaded(const fs::path& library) {
  return library.string().find_first_of(" :\t\n") == std::string::npos;
}

struct SlotNumber {
  uint32_t argument;
  bool is_int;
  capture::TextId name;
};

// A file of calls; what is cut or absurd is left out.
class CallFile {
 public:
  static std::optional<CallFile> open(const fs::path& path) {
    const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0) return std::nullopt;
    CallFile file;
    file.mapped_ = MappedFile::map(fd.get());
    if (!file.mapped_ || file.mapped_->bytes().size() < probe::kCallRecordsAt) return std::nullopt;
    std::memcpy(&file.head_, file.mapped_->bytes().data(), sizeof file.head_);
    if (std::memcmp(file.head_.magic, probe::kCallFileMagic, sizeof file.head_.magic) != 0)
      return std::nullopt;
    return file;
  }

  uint32_t slots() const { return std::min(head_.slots, probe::kMostCallSlots); }
  bool is_full() const { return head_.slots > probe::kMostCallSlots; }
  uint64_t lost() const { return head_.lost; }

  bool is_filled(uint32_t slot) const { return slot_at(slot).length > 0; }
  uint32_t probe_of(uint32_t slot) const { return slot_at(slot).probe; }
  uint32_t records_of(uint32_t slot) const { return slot_at(slot).records_of; }
  std::string name_of(uint32_t slot) const {
    const probe::CallSlot shown = slot_at(slot);
    return {shown.name, std::min(shown.length, probe::kLongestSlotName)};
  }

  template <typename Visit>
  void for_each_record(Visit visit) const {
    const uint64_t room =
        (mapped_->bytes().size() - probe::kCallRecordsAt) / sizeof(probe::CallRecord);
    const uint64_t count = std::min(head_.records, room);
    for (uint64_t i = 0; i < count; ++i) {
      probe::CallRecord record;
      std::memcpy(&record,
                  mapped_->bytes().data() + probe::kCallRecordsAt + i * sizeof(probe::CallRecord),
                  sizeof record);
      const bool is_filled = record.start != 0 && (record.end != 0 || !is_call(record));
      if (is_filled && record.slot < slots()) visit(record);
    }
  }

 private:
  probe::CallSlot slot_at(uint32_t slot) const {
    probe::CallSlot shown;
    std::memcpy(
        &shown,
        mapped_->bytes().data() + sizeof(probe::CallFileHead) + slot * sizeof(probe::CallSlot),
        sizeof shown);
    return shown;
  }

  std::shared_ptr<const MappedFile> mapped_;
  probe::CallFileHead head_ = {};
};

}  // namespace

std::vector<NativeCallFile> find_native_calls(const fs::path& directory) {
  std::vector<NativeCallFile> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(probe::kCallFileStart) || !name.ends_with(probe::kCallFileEnd)) continue;
    const std::optional<CallFile> file = CallFile::open(entry.path());
    NativeCallFile found{entry.path(), {}, entry.file_size(error) < probe::kCallRecordsAt};
    if (found.is_cut) files.push_back(found);
    if (!file) continue;
    int64_t last = -1;
    file->for_each_record([&](const probe::CallRecord& record) {
      if (record.process == last) return;
      last = record.process;
      found.processes.insert(last);
    });
    files.push_back(std::move(found));
  }
  std::ranges::sort(files, {}, &NativeCallFile::path);
  return files;
}

Status add_native_calls(const fs::path& path, int64_t process,
                        const std::vector<std::string>& probes, const TimeWindows& windows,
                        capture::ChunkWriter& to) {
  const std::optional<CallFile> file = CallFile::open(path);
  if (!file) return Nothing{};
  std::vector<capture::TextId> names;
  std::vector<std::vector<SlotNumber>> numbers_of(file->slots());
  for (uint32_t slot = 0; slot < file->slots(); ++slot) {
    const std::string name = file->name_of(slot);
    names.push_back(to.text(name));
    const uint32_t recorded = file->records_of(slot);
    if (!file->is_filled(slot) || file->probe_of(slot) >= probes.size() ||
        recorded >= numbers_of.size()) {
      continue;
    }
    for (const probe::NativeNumber& number :
         probe::native_probe(probes[file->probe_of(slot)]).numbers) {
      const SlotNumber shown{number.argument, number.is_int, to.text(name + " " + number.text)};
      // Several probes of a function may ask for the same.
      if (std::ranges::find(numbers_of[recorded], shown.name, &SlotNumber::name) ==
          numbers_of[recorded].end()) {
        numbers_of[recorded].push_back(shown);
      }
    }
  }
  constexpr size_t kAtOnce = 1 << 16;
  std::vector<capture::Range> ranges;
  std::vector<capture::Number> numbers;
  const auto put = [&] {
    to.write<capture::Range>(capture::ChunkKind::kRanges, ranges);
    to.write<capture::Number>(capture::ChunkKind::kNumbers, numbers);
    ranges.clear();
    numbers.clear();
  };
  file->for_each_record([&](const probe::CallRecord& record) {
    if (record.process != process) return;
    if (!windows.include(record.start, is_call(record) ? record.end : record.start)) return;
    if (is_call(record)) {
      ranges.push_back({record.start, record.end, names[record.slot], record.thread});
    } else {
      for (const SlotNumber& number : numbers_of[record.slot]) {
        if (record.kind != probe::kNumber + number.argument) continue;
        const double value = number.is_int ? static_cast<double>(static_cast<int32_t>(record.end))
                                           : static_cast<double>(static_cast<int64_t>(record.end));
        numbers.push_back({record.start, value, number.name, record.thread});
      }
    }
    if (ranges.size() + numbers.size() >= kAtOnce) put();
  });
  put();
  if (file->lost() > 0) {
    const capture::Drop drop{file->lost()};
    to.write<capture::Drop>(capture::ChunkKind::kDrops, {&drop, 1});
  }
  return Nothing{};
}

void add_native_environment(const NativeProbes& probes, const fs::path& directory,
                            std::vector<std::string>& environment) {
  if (probes.probes.empty() || probes.library.empty() || !can_be_preloaded(probes.library)) return;
  std::string preload = probes.library.string();
  std::erase_if(environment, [&](const std::string& line) {
    if (!line.starts_with("LD_PRELOAD=")) return false;
    if (const std::string old = line.substr(11); !old.empty()) preload += ":" + old;
    return true;
  });
  environment.push_back("LD_PRELOAD=" + preload);
  std::string lines;
  for (const std::string& probe : probes.probes) lines += (lines.empty() ? "" : "\n") + probe;
  environment.push_back(fmt::format("{}={}", probe::kProbesVariable, lines));
  environment.push_back(fmt::format("{}={}", probe::kProbeDirectoryVariable, directory.string()));
}

std::vector<std::string> native_probe_notes(const NativeProbes& probes,
                                            const std::vector<NativeCallFile>& files) {
  std::vector<std::string> notes;
  std::vector<std::string> found(probes.probes.size());
  std::vector<bool> called(probes.probes.size());
  bool is_full = false;
  uint64_t lost = 0;
  for (const NativeCallFile& place : files) {
    const std::optional<CallFile> file = CallFile::open(place.path);
    if (!file) continue;
    is_full = is_full || file->is_full();
    for (uint32_t slot = 0; slot < file->slots(); ++slot) {
      if (file->probe_of(slot) < found.size()) found[file->probe_of(slot)] = file->name_of(slot);
    }
    lost += file->lost();
    std::vector<bool> has_records(file->slots());
    file->for_each_record(
        [&](const probe::CallRecord& record) { has_records[record.slot] = true; });
    for (uint32_t slot = 0; slot < file->slots(); ++slot) {
      const uint32_t index = file->probe_of(slot), recorded = file->records_of(slot);
      if (file->is_filled(slot) && index < called.size() && recorded < has_records.size() &&
          has_records[recorded])
        called[index] = true;
    }
  }
  for (size_t i = 0; i < probes.probes.size(); ++i) {
    if (called[i]) continue;
    if (probes.library.empty()) {
      notes.push_back(
          fmt::format("--probe {}: nothing was recorded; libfathom_probe.so is not in the folder "
                      "of fathom (it is made "
                      "for x86-64 only)",
                      probes.probes[i]));
    } else if (!can_be_preloaded(probes.library)) {
      notes.push_back(
          fmt::format("--probe {}: nothing was recorded; the path of {} has a space or a colon, "
                      "which LD_PRELOAD does not allow. Install fathom elsewhere",
                      probes.probes[i], probes.library.string()));
    } else if (found[i].empty() && std::ranges::any_of(files, &NativeCallFile::is_cut)) {
      notes.push_back(fmt::format("--probe {}: no calls were recorded; there is {}",
                                  probes.probes[i], kNoRoom));
    } else if (found[i].empty()) {
      notes.push_back(fmt::format(
          "--probe {}: nothing was recorded; no call of a function with this name was found. Check "
          "the name (nm -DC LIBRARY) and name its library: inside others only calls through the "
          "dynamic linker are seen",
          probes.probes[i]));
    } else {
      notes.push_back(
          fmt::format("--probe {}: no finished call of it was recorded: {} was not called, was "
                      "called only through a pointer, was inlined, or did not return (exit, exec, "
                      "longjmp, an exception that nothing catches)",
                      probes.probes[i], found[i]));
    }
  }
  if (is_full) {
    notes.push_back(fmt::format("--probe: more than {} functions match; only so many are recorded",
                                probe::kMostCallSlots));
  }
  if (lost > 0) {
    notes.push_back(fmt::format(
        "--probe: {} records of calls are lost: there is {}",
        with_thousands(static_cast<int64_t>(std::min<uint64_t>(lost, INT64_MAX))), kNoRoom));
  }
  return notes;
}

}  // namespace fathom
