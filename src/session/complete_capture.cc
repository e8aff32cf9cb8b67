#include "session/complete_capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "base/byte_source.h"
#include "base/text_parts.h"
#include "base/zstd_file.h"
#include "capture/chunk_writer.h"
#include "ingest/capture/chunk_reader.h"
#include "ingest/kineto/reader.h"
#include "session/native_calls.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;
using capture::ChunkKind;
using capture::ChunkWriter;
using capture::TextId;

class ZstdSink : public capture::ByteSink {
 public:
  explicit ZstdSink(ZstdFile& file) : file_(file) {}
  int write(std::string_view bytes) override {
    if (status_.ok()) status_ = file_.write(bytes);
    return status_.ok() ? 0 : EIO;
  }
  const Status& status() const { return status_; }

 private:
  ZstdFile& file_;
  Status status_ = Nothing{};
};

std::optional<int64_t> leading_number(std::string_view text) {
  return number_in<int64_t>(text.substr(0, text.find_first_not_of("0123456789")));
}

// Whole chunks only: what a killed program left half-written ends here.
Status copy_chunks(const fs::path& from, ChunkWriter& to) {
  const std::unique_ptr<ByteSource> source = TRY(open_source(from.string()));
  capture::ChunkReader chunks(*source, int64_t{64} << 30);
  if (!chunks.begins_well()) return Nothing{};
  TextId last = 0;
  while (std::optional<capture::Chunk> chunk = TRY(chunks.next())) {
    if (chunk->kind == ChunkKind::kStrings) {
      capture::for_each_text(chunk->payload,
                             [&](uint32_t id, std::string_view) { last = std::max(last, id); });
    }
    to.copy(chunk->kind, chunk->record_size, chunk->payload);
  }
  to.start_texts_at(last + 1);
  return Nothing{};
}

// What was counted in a second run of the program.
Status add_counters(const fs::path& path, ChunkWriter& to) {
  const std::unique_ptr<ByteSource> source = TRY(open_source(path.string()));
  capture::ChunkReader chunks(*source, int64_t{4} << 30);
  if (!chunks.begins_well()) return Nothing{};
  std::map<uint32_t, std::string> texts;
  std::vector<capture::Counter> counters;
  while (std::optional<capture::Chunk> chunk = TRY(chunks.next())) {
    if (chunk->kind == ChunkKind::kStrings) {
      capture::for_each_text(chunk->payload, [&](uint32_t id, std::string_view text) {
        texts.insert_or_assign(id, std::string(text));
      });
    }
    if (chunk->kind == ChunkKind::kMeta && chunk->payload.starts_with("counters\t"))
      to.write_meta(chunk->payload);  // another tool's
    if (chunk->kind != ChunkKind::kCounters || chunk->record_size != sizeof(capture::Counter))
      continue;
    for (size_t at = 0; at + sizeof(capture::Counter) <= chunk->payload.size();
         at += sizeof(capture::Counter)) {
      capture::Counter counter;
      std::memcpy(&counter, chunk->payload.data() + at, sizeof counter);
      counter.name = to.text(texts[counter.name]);
      counter.mangled = to.text(texts[counter.mangled]);
      counter.metric = to.text(texts[counter.metric]);
      counters.push_back(counter);
    }
  }
  to.write<capture::Counter>(ChunkKind::kCounters, counters);
  return Nothing{};
}

uint32_t thread_number(const EventStore& store, EventId event) {
  return number_in<uint32_t>(store.text(store.track(event).tid)).value_or(0);
}

// PyTorch's records of a process: its ops, annotations and Python frames.
Status add_torch_trace(const fs::path& path, ChunkWriter& to) {
  const EventStore store = TRY(kineto::read_trace(path.string()));
  const int64_t base = store.metadata().base_time.value_or(Nanos{}).count;
  std::vector<capture::Op> ops;
  std::vector<capture::Frame> frames;
  const auto text = [&](StringId id) { return to.text(store.text(id)); };
  for (EventId e(0); e.index < store.size(); ++e.index) {
    const EventKind kind = store.kind(e);
    const auto start = static_cast<uint64_t>(base + store.start(e).count);
    const auto end = start + static_cast<uint64_t>(store.duration(e).count);
    if (kind == EventKind::kCpuOp || kind == EventKind::kAnnotation) {
      capture::Op op = {};
      op.start = start;
      op.end = end;
      op.name = text(store.name_id(e));
      op.thread = thread_number(store, e);
      op.sequence = op.forward_thread = -1;
      op.is_annotation = kind == EventKind::kAnnotation ? 1 : 0;
      if (const AutogradFacts* facts = store.autograd(e)) {
        op.sequence = facts->sequence;
        op.forward_thread = facts->forward_thread;
      }
      if (store.args_id(e).valid()) {
        const Args& args = store.args(store.args_id(e));
        op.dims = text(args.dims);
        op.types = text(args.types);
        op.strides = text(args.strides);
        op.concrete = text(args.concrete);
      }
      ops.push_back(op);
    } else if (kind == EventKind::kPython) {
      const PythonFrame& frame = store.frame(e);
      frames.push_back({start, end, frame.id.value_or(-1), frame.parent.value_or(-1),
                        frame.module.value_or(-1), text(store.name_id(e)),
                        thread_number(store, e)});
    }
  }
  to.write<capture::Op>(ChunkKind::kOps, ops);
  to.write<capture::Frame>(ChunkKind::kFrames, frames);
  return Nothing{};
}

Result<std::string> whole_text(const fs::path& path) {
  constexpr size_t kMost = size_t{4} << 30;
  const std::unique_ptr<ByteSource> source = TRY(open_source(path.string()));
  std::string text;
  while (text.size() < kMost) {
    const size_t old = text.size();
    text.resize(old + (1 << 20));
    const size_t got = TRY(source->read({text.data() + old, text.size() - old}));
    text.resize(old + got);
    if (got == 0) break;
  }
  return text;
}

template <typename Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return;  // cut
    std::vector<std::string_view> fields;
    std::string_view line = text.substr(0, end);
    while (true) {
      const size_t tab = line.find('\t');
      fields.push_back(line.substr(0, tab));
      if (tab == std::string_view::npos) break;
      line.remove_prefix(tab + 1);
    }
    visit(fields);
    text.remove_prefix(end + 1);
  }
}

// Lines of the hook: R start end thread name; N time value thread name.
Status add_probes(const fs::path& path, const TimeWindows& windows, ChunkWriter& to) {
  const std::string lines = TRY(whole_text(path));
  std::vector<capture::Range> ranges;
  std::vector<capture::Number> numbers;
  for_each_line(lines, [&](const std::vector<std::string_view>& fields) {
    if (fields.size() != 5) return;
    const auto thread = number_in<uint32_t>(fields[3]);
    const auto first = number_in<uint64_t>(fields[1]);
    if (!thread || !first) return;
    if (fields[0] == "R") {
      const auto end = number_in<uint64_t>(fields[2]);
      if (end && windows.include(*first, *end))
        ranges.push_back({*first, *end, to.text(fields[4]), *thread});
    } else if (fields[0] == "N") {
      const auto value = number_in<double>(fields[2]);
      if (value && windows.include(*first, *first))
        numbers.push_back({*first, *value, to.text(fields[4]), *thread});
    }
  });
  to.write<capture::Range>(ChunkKind::kRanges, ranges);
  to.write<capture::Number>(ChunkKind::kNumbers, numbers);
  return Nothing{};
}

}  // namespace

std::vector<ProcessRecords> find_processes(const fs::path& directory) {
  struct Found {
    int64_t begun = INT64_MAX;
    ProcessRecords records;
  };
  std::map<int64_t, Found> by_pid;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    const std::string ending = entry.path().extension().string();
    if (ending == ".capture") {
      const auto pid = leading_number(name);
      const size_t dash = name.find('-');
      if (!pid || dash == std::string::npos) continue;
      Found& found = by_pid[*pid];
      found.begun = leading_number(std::string_view(name).substr(dash + 1)).value_or(INT64_MAX);
      found.records.capture = entry.path();
    } else if (name.starts_with("torch-") && ending == ".json") {
      if (const auto pid = leading_number(std::string_view(name).substr(6)))
        by_pid[*pid].records.torch_trace = entry.path();
    } else if (name.starts_with("probes-")) {
      if (const auto pid = leading_number(std::string_view(name).substr(7)))
        by_pid[*pid].records.probes = entry.path();
    }
  }
  for (const NativeCallFile& file : find_native_calls(directory)) {
    for (const int64_t pid : file.processes) by_pid[pid].records.native_calls.push_back(file.path);
  }
  std::vector<Found> all;
  for (auto& [pid, found] : by_pid) {
    found.records.pid = pid;
    all.push_back(std::move(found));
  }
  std::ranges::stable_sort(all, {}, &Found::begun);
  std::vector<ProcessRecords> processes;
  for (Found& found : all) processes.push_back(std::move(found.records));
  return processes;
}

Status complete_capture(const ProcessRecords& process, const std::vector<LoggedNumber>& logged,
                        const TimeWindows& windows, const std::string& command,
                        const fs::path& out) {
  ZstdFile file = TRY(ZstdFile::create(out, out));
  ZstdSink sink(file);
  ChunkWriter writer(sink);
  writer.begin();
  if (!process.capture.empty()) {
    TRY(copy_chunks(process.capture, writer));
  } else {
    std::string shown = command;
    std::ranges::replace_if(shown, [](char c) { return c == '\t' || c == '\n'; }, ' ');
    writer.write_meta(fmt::format("tool\tfathom record\t{}\nprocess\t{}\t0\t{}\n", FATHOM_VERSION,
                                  process.pid, shown));
  }
  if (!process.torch_trace.empty()) TRY(add_torch_trace(process.torch_trace, writer));
  if (!process.probes.empty()) TRY(add_probes(process.probes, windows, writer));
  for (const fs::path& path : process.native_calls)
    TRY(add_native_calls(path, process.pid, process.native_probes, windows, writer));
  if (!process.counters.empty()) TRY(add_counters(process.counters, writer));
  std::vector<capture::Number> numbers;
  for (const LoggedNumber& number : logged) {
    numbers.push_back(
        {static_cast<uint64_t>(number.time_ns), number.value, writer.text(number.name), 0});
  }
  writer.write<capture::Number>(ChunkKind::kNumbers, numbers);
  if (!sink.status().ok()) return sink.status();
  return file.finish();
}

std::vector<std::string> placed_probes(const std::vector<ProcessRecords>& processes) {
  std::vector<std::string> placed;
  for (const ProcessRecords& process : processes) {
    if (process.probes.empty()) continue;
    const Result<std::string> lines = whole_text(process.probes);
    if (!lines.ok()) continue;
    for_each_line(lines.value(), [&](const std::vector<std::string_view>& fields) {
      if (fields.size() == 2 && fields[0] == "P") placed.emplace_back(fields[1]);
    });
  }
  return placed;
}

}  // namespace fathom
