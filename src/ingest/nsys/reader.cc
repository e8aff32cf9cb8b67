#include "ingest/nsys/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "events/timeline_rows.h"
#include "ingest/nsys/export_names.h"

namespace fathom::nsys {
namespace {

constexpr std::string_view kActivities = "CUPTI_ACTIVITY_KIND_";

// A number that holds host, process and thread.
struct GlobalId {
  int64_t process;  // host and process
  int64_t pid, tid;

  explicit GlobalId(int64_t serialized)
      : process(serialized >> 24), pid(process & 0xffffff), tid(serialized & 0xffffff) {}
};

class ExportReader {
 public:
  ExportReader(const SqliteDatabase& database, const ProgressCallback& progress)
      : database_(database), progress_(progress), rows_(out_) {}

  EventStore read() {
    read_strings();
    read_metadata();
    name_threads();
    // Calls come before the work: the first process seen keeps its correlation ids as they are.
    for (const char* table : {"CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_DRIVER"}) {
      read_calls(table);
    }
    read_nvtx();
    for (const char* table :
         {"MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS",
          "CUBLAS_EVENTS", "CUDNN_EVENTS", "NCCL_API_EVENTS"}) {
      read_ranges(table);
    }
    read_kernels();
    read_graphs();
    read_copies();
    read_memsets();
    read_syncs();
    read_overhead();
    note_unread();
    return std::move(out_).seal(std::move(metadata_), database_.size());
  }

 private:
  template <size_t kColumns>
  void scan(std::string_view table, const std::array<std::string_view, kColumns>& columns,
            const std::function<void(const SqliteRow&)>& visit) {
    read_.emplace_back(table);
    const ScanEnd end = database_.scan(table, columns, visit);
    if (end == ScanEnd::kDamaged) out_.diagnostics().add(Flaw::kDamagedTable, table);
    if (end != ScanEnd::kNoTable && progress_) progress_(-1);
  }

  void read_strings() {
    scan<2>("StringIds", {"id", "value"}, [this](const SqliteRow& row) {
      if (const auto id = row.integer(0)) {
        strings_.try_emplace(static_cast<uint64_t>(*id), rows_.text(row.text(1)));
      }
    });
  }

  // A text of its own, or the number of one. Invalid where it has neither.
  StringId string(const SqliteRow& row, size_t column) {
    if (row.is_text(column)) return rows_.text(row.text(column));
    const auto id = row.integer(column);
    const auto found = id ? strings_.find(static_cast<uint64_t>(*id)) : strings_.end();
    return found == strings_.end() ? StringId{} : found->second;
  }

  void read_metadata() {
    std::string product = "Nsight Systems", schema;
    for (const char* table : {"META_DATA_EXPORT", "EXPORT_META_DATA"}) {
      scan<2>(table, {"name", "value"}, [&](const SqliteRow& row) {
        if (row.text(0) == "EXPORT_PRODUCT_VERSION") {
          product = fmt::format("Nsight Systems {}", release_of(row.text(1)));
        } else if (row.text(0) == "EXPORT_SCHEMA_VERSION") {
          schema = fmt::format(", schema {}", row.text(1));
        }
      });
    }
    metadata_.source = product + schema;
    scan<1>("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"}, [this](const SqliteRow& row) {
      if (const auto time = row.integer(0)) metadata_.base_time = Nanos{*time};
    });
    // cuDevice is the number that kernels carry; id counts the machine's GPUs.
    scan<7>(
        "TARGET_INFO_GPU",
        {"cuDevice", "id", "name", "smCount", "totalMemory", "computeMajor", "computeMinor"},
        [this](const SqliteRow& row) {
          const auto device = row.integer(0) ? row.integer(0) : row.integer(1);
          metadata_.gpus.push_back({device.value_or(static_cast<int64_t>(metadata_.gpus.size())),
                                    std::string(out_.text(rows_.text(row.text(2)))), row.integer(3),
                                    row.integer(4), row.integer(5), row.integer(6)});
        });
    std::ranges::stable_sort(metadata_.gpus, {}, &GpuProperties::id);
  }

  void name_threads() {
    scan<2>("ThreadNames", {"nameId", "globalTid"}, [this](const SqliteRow& row) {
      const StringId name = string(row, 0);
      const auto id = row.integer(1);
      if (name.valid() && id) out_.name_thread(thread(*id), name);
    });
    // All of the machine's processes are listed; those of the trace are found by their threads.
    scan<2>("PROCESSES", {"globalPid", "name"}, [this](const SqliteRow& row) {
      if (const auto id = row.integer(0)) {
        process_names_.try_emplace(static_cast<uint64_t>(GlobalId(*id).process),
                                   rows_.text(row.text(1)));
      }
    });
  }

  TrackId thread(int64_t serialized) {
    const GlobalId id(serialized);
    const TrackId track = rows_.thread(id.pid, id.tid);
    const auto name = process_names_.find(static_cast<uint64_t>(id.process));
    if (name != process_names_.end()) {
      out_.name_process(track, name->second);
      process_names_.erase(name);  // once is enough
    }
    return track;
  }

  // Without a process the ids are taken for the first one's.
  std::optional<LaunchKey> key(std::optional<int64_t> serialized,
                               std::optional<int64_t> correlation) {
    if (!correlation) return {};
    if (serialized) return rows_.key(GlobalId(*serialized).process, *correlation);
    return LaunchKey{*correlation, false};
  }

  void read_calls(std::string_view table) {
    constexpr int64_t kDriverClass = 1, kBacktraceClass = 67;  // ENUM_NSYS_EVENT_CLASS
    const bool only_driver = table.ends_with("DRIVER");
    scan<7>(table, {"start", "end", "globalTid", "correlationId", "nameId", "name", "eventClass"},
            [&](const SqliteRow& row) {
              // The same call once more, for its stack.
              if (row.integer(6) == kBacktraceClass) return out_.skip_position();
              StringId raw = string(row, 4);
              if (!raw.valid()) raw = string(row, 5);
              const StringId name =
                  raw.valid() ? plain_api(raw) : out_.intern("CUDA call without a name");
              const std::string_view text = out_.text(name);
              const bool by_name = text.starts_with("cu") && !text.starts_with("cuda");
              const bool driver =
                  only_driver || by_name || (!raw.valid() && row.integer(6) == kDriverClass);
              const auto id = row.integer(2);
              const auto event =
                  rows_.event(driver ? EventKind::kDriver : EventKind::kRuntime, name,
                              thread(id.value_or(0)), row.integer(0), row.integer(1));
              if (event) out_.add(*event, LaunchCall{key(id, row.integer(3))});
            });
  }

  StringId plain_api(StringId raw) {
    auto [found, is_new] = plain_apis_.try_emplace(raw.index);
    if (is_new) found->second = out_.intern(std::string(without_version(out_.text(raw))));
    return found->second;
  }

  void read_nvtx() {
    constexpr int64_t kRanges[] = {59, 60, 70, 71}, kMarks[] = {34, 65};
    scan<6>("NVTX_EVENTS", {"start", "end", "eventType", "text", "textId", "globalTid"},
            [&](const SqliteRow& row) {
              const auto type = row.integer(2), end = row.integer(1);
              const bool is_mark =
                  type ? std::ranges::find(kMarks, *type) != std::end(kMarks) : !end;
              const bool is_range =
                  type ? std::ranges::find(kRanges, *type) != std::end(kRanges) : end.has_value();
              // Names of domains, categories and threads.
              if (!is_mark && !is_range) return out_.skip_position();
              StringId name = string(row, 3);
              if (!name.valid()) name = string(row, 4);
              if (!name.valid()) name = out_.intern("NVTX range without a name");
              const TrackId track = thread(row.integer(5).value_or(0));
              if (is_mark) {
                return rows_.add_instant(EventKind::kInstant, name, track, row.integer(0));
              }
              if (const auto event =
                      rows_.event(EventKind::kAnnotation, name, track, row.integer(0), end)) {
                out_.add(*event, LaunchCall{});
              }
            });
  }

  // Calls of libraries: ranges around what they launch.
  void read_ranges(std::string_view table) {
    scan<6>(table, {"start", "end", "textId", "nameId", "text", "globalTid"},
            [&](const SqliteRow& row) {
              StringId name;
              for (const size_t column : {size_t{2}, size_t{3}, size_t{4}}) {
                if (!name.valid()) name = string(row, column);
              }
              if (!name.valid()) name = rows_.text(table);
              if (const auto event =
                      rows_.event(EventKind::kAnnotation, name, thread(row.integer(5).value_or(0)),
                                  row.integer(0), row.integer(1))) {
                out_.add(*event, LaunchCall{});
              }
            });
  }

  // The columns that all work on a GPU has come first.
  static constexpr size_t kStart = 0, kEnd = 1, kDevice = 2, kContext = 3, kStream = 4,
                          kCorrelation = 5, kProcess = 6, kOwn = 7;

  GpuWork gpu_work(const SqliteRow& row) {
    GpuWork work;
    work.key = key(row.integer(kProcess), row.integer(kCorrelation));
    work.device = small_number(row.integer(kDevice));
    work.context = small_number(row.integer(kContext));
    work.stream = row.integer(kStream);
    return work;
  }

  void add_gpu_work(const SqliteRow& row, EventKind kind, StringId name, const GpuWork& work) {
    const TrackId track = rows_.stream(row.integer(kDevice), work.stream);
    if (const auto event = rows_.event(kind, name, track, row.integer(kStart), row.integer(kEnd))) {
      out_.add(*event, work);
    }
  }

  void read_kernels() {
    scan<20>("CUPTI_ACTIVITY_KIND_KERNEL",
             {"start",
              "end",
              "deviceId",
              "contextId",
              "streamId",
              "correlationId",
              "globalPid",
              "demangledName",
              "shortName",
              "mangledName",
              "name",
              "registersPerThread",
              "gridX",
              "gridY",
              "gridZ",
              "blockX",
              "blockY",
              "blockZ",
              "staticSharedMemory",
              "dynamicSharedMemory"},
             [this](const SqliteRow& row) {
               StringId name;
               for (size_t column = kOwn; column < kOwn + 4 && !name.valid(); ++column) {
                 name = string(row, column);
               }
               if (!name.valid()) name = out_.intern("kernel without a name");
               GpuWork work = gpu_work(row);
               work.registers = small_number(row.integer(11));
               work.grid = dimensions(row.integer(12), row.integer(13), row.integer(14));
               work.block = dimensions(row.integer(15), row.integer(16), row.integer(17));
               const auto fixed = small_number(row.integer(18)),
                          chosen = small_number(row.integer(19));
               if (fixed || chosen) {
                 work.shared_memory = small_number(int64_t{fixed.value_or(0)} + chosen.value_or(0));
               }
               add_gpu_work(row, EventKind::kKernel, name, work);
             });
  }

  // Recorded as a whole (--cuda-graph-trace=graph): the kernels in it are not known.
  void read_graphs() {
    scan<9>("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
            {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
             "graphExecId", "graphId"},
            [this](const SqliteRow& row) {
              const auto id = row.integer(kOwn) ? row.integer(kOwn) : row.integer(kOwn + 1);
              const StringId name =
                  out_.intern(id ? fmt::format("CUDA graph {}", *id) : "CUDA graph");
              add_gpu_work(row, EventKind::kKernel, name, gpu_work(row));
            });
  }

  void read_copies() {
    scan<11>("CUPTI_ACTIVITY_KIND_MEMCPY",
             {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
              "bytes", "copyKind", "srcKind", "dstKind"},
             [this](const SqliteRow& row) {
               GpuWork work = gpu_work(row);
               work.bytes = row.integer(kOwn);
               const std::string name =
                   copy_name(row.integer(kOwn + 1), row.integer(kOwn + 2), row.integer(kOwn + 3));
               add_gpu_work(row, EventKind::kMemcpy, out_.intern(name), work);
             });
  }

  void read_memsets() {
    scan<9>("CUPTI_ACTIVITY_KIND_MEMSET",
            {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
             "bytes", "memKind"},
            [this](const SqliteRow& row) {
              GpuWork work = gpu_work(row);
              work.bytes = row.integer(kOwn);
              add_gpu_work(row, EventKind::kMemset, out_.intern(memset_name(row.integer(kOwn + 1))),
                           work);
            });
  }

  void read_syncs() {
    scan<8>("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
            {"start", "end", "deviceId", "contextId", "streamId", "correlationId", "globalPid",
             "syncType"},
            [this](const SqliteRow& row) {
              constexpr int64_t kAllStreams = UINT32_MAX;
              const auto stream = row.integer(kStream);
              const TrackId track =
                  rows_.stream(row.integer(kDevice), stream == kAllStreams ? std::nullopt : stream);
              const StringId name = out_.intern(sync_name(row.integer(kOwn)));
              if (const auto event = rows_.event(EventKind::kOther, name, track,
                                                 row.integer(kStart), row.integer(kEnd))) {
                const auto call = key(row.integer(kProcess), row.integer(kCorrelation));
                const EventId wait = out_.add(*event);
                if (call) out_.add_wait({wait, call->id, {}, {}});
              }
            });
  }

  void read_overhead() {
    scan<4>("PROFILER_OVERHEAD", {"start", "end", "nameId", "globalTid"},
            [this](const SqliteRow& row) {
              StringId name = string(row, 2);
              if (!name.valid()) name = out_.intern("Profiler overhead");
              if (const auto event =
                      rows_.event(EventKind::kOther, name, thread(row.integer(3).value_or(0)),
                                  row.integer(0), row.integer(1))) {
                out_.add(*event);
              }
            });
  }

  // What else has events, so that nobody takes it for absent.
  void note_unread() {
    for (const std::string& table : database_.tables()) {
      if (std::ranges::find(read_, table) != read_.end()) continue;
      const std::vector<std::string> columns = database_.columns(table);
      const auto has = [&](std::string_view name) {
        return std::ranges::find(columns, name) != columns.end();
      };
      if ((!has("start") && !has("timestamp")) || database_.is_empty(table)) continue;
      out_.diagnostics().add(Flaw::kUnreadTable, table);
    }
  }

  const SqliteDatabase& database_;
  const ProgressCallback& progress_;
  EventStoreBuilder out_;
  TimelineRows rows_;
  TraceMetadata metadata_;
  std::unordered_map<uint64_t, StringId, TableHash> strings_;        // by their number in the file
  std::unordered_map<uint64_t, StringId, TableHash> plain_apis_;     // by the name's id
  std::unordered_map<uint64_t, StringId, TableHash> process_names_;  // of those not yet named
  std::vector<std::string> read_;                                    // tables
};

}  // namespace

bool is_export(const SqliteDatabase& database) {
  const std::vector<std::string>& tables = database.tables();
  const bool has_activity = std::ranges::any_of(
      tables, [](const std::string& table) { return table.starts_with(kActivities); });
  return database.has_table("StringIds") &&
         (has_activity || database.has_table("NVTX_EVENTS") ||
          database.has_table("META_DATA_EXPORT") || database.has_table("EXPORT_META_DATA"));
}

Result<EventStore> read_trace(const SqliteDatabase& database, const std::string& shown,
                              const ProgressCallback& progress) {
  if (!is_export(database)) {
    return Error{fmt::format("{} is not an Nsight Systems export", shown)};
  }
  return ExportReader(database, progress).read();
}

}  // namespace fathom::nsys
