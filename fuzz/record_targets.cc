// What `fathom record` reads of the program that it ran: lines of output, and the files that hooks
// and libraries inside the program leave, which may be cut or written by anybody.
#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/byte_source.h"
#include "base/check.h"
#include "fuzz_folder.h"
#include "ingest/capture/reader.h"
#include "probe/call_file.h"
#include "session/complete_capture.h"
#include "session/log_pattern.h"
#include "session/native_calls.h"
#include "targets.h"

namespace fathom::fuzz {
namespace {

namespace fs = std::filesystem;

// A file of calls is large and mostly zero: an input has its head without the rest, how many
// functions, each {probe, records_of, length, 20 bytes of name}, and records.
std::string call_file(std::string_view input) {
  const auto take = [&input](void* to, size_t size) {
    const size_t n = std::min(size, input.size());
    std::memcpy(to, input.data(), n);
    input.remove_prefix(n);
  };
  probe::CallFileHead head = {};
  std::memcpy(head.magic, probe::kCallFileMagic, sizeof head.magic);
  take(&head.slots, sizeof head.slots);
  take(&head.records, sizeof head.records);
  take(&head.lost, sizeof head.lost);
  uint8_t count = 0;
  take(&count, sizeof count);
  std::string file(probe::kCallRecordsAt, '\0');
  std::memcpy(file.data(), &head, sizeof head);
  for (size_t i = 0; i < count; ++i) {
    constexpr size_t kNameBytes = 20;
    probe::CallSlot slot = {};
    take(&slot, offsetof(probe::CallSlot, name) + kNameBytes);
    std::memcpy(file.data() + sizeof head + i * sizeof slot, &slot, sizeof slot);
  }
  return file.append(input);
}

}  // namespace

void log_lines(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(text.find('\n'), text.size());
  const Result<LogPattern> pattern = LogPattern::parse(text.substr(0, end));
  if (!pattern.ok()) return;
  std::string_view rest = text.substr(std::min(end + 1, text.size()));
  while (!rest.empty()) {
    const size_t line = std::min(rest.find('\n'), rest.size());
    for (const LogPattern::Found& found : pattern.value().match(rest.substr(0, line)))
      CHECK(found.counter < pattern.value().names().size());
    rest.remove_prefix(std::min(line + 1, rest.size()));
  }
}

// The first byte tells what the rest is.
void process_records(const uint8_t* data, size_t size) {
  if (size == 0) return;
  const std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  const fs::path& folder = empty_folder();
  switch (data[0]) {
    case 'R':
      write_whole(folder / "probes-7", rest);
      break;
    case 'T':
      write_whole(folder / "torch-7.json", rest);
      break;
    case 'N':
      write_whole(folder / "native-7.calls", call_file(rest));
      break;
    default:
      write_whole(folder / "7-1.capture", rest);
  }
  std::vector<ProcessRecords> processes = find_processes(folder);
  (void)placed_probes(processes);
  const std::vector<std::string> probes = {"c:push(arg1, result)", "libengine.so:pop"};
  (void)native_probe_notes({probes, {}}, find_native_calls(folder));
  for (ProcessRecords& process : processes) {
    process.native_probes = probes;
    process.counters = process.capture;
    const fs::path out = folder / "complete";
    if (!complete_capture(process, {{1, 0.5, "hit rate"}}, {}, "fuzz\tme", out).ok()) continue;
    // What we wrote ourselves can be read.
    Result<std::unique_ptr<ByteSource>> source = open_source(out.string());
    CHECK(source.ok());
    CHECK(capture::read_capture(*source.value(), "fuzz").ok());
  }
}

}  // namespace fathom::fuzz
