#include "ingest/rocprof/rocpd.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/json_unescape.h"
#include "ingest/rocprof/json_cursor.h"
#include "ingest/rocprof/trace_rows.h"

namespace fathom::rocprof {
namespace {

constexpr std::string_view kDispatches = "rocpd_kernel_dispatch", kRegions = "rocpd_region",
                           kCopies = "rocpd_memory_copy";

// The part behind a table's known name: "" or "_<uuid>". Nothing for another table.
std::optional<std::string> suffix_of(std::string_view table, std::string_view base) {
  if (!table.starts_with(base)) return {};
  const std::string_view rest = table.substr(base.size());
  if (!rest.empty() && (rest.front() != '_' || rest.size() < 9)) return {};
  return std::string(rest);
}

// What one process wrote: its tables have one suffix.
class RocpdPart {
 public:
  RocpdPart(const SqliteDatabase& database, std::string suffix, EventStoreBuilder& out,
            TraceRows& rows, TraceMetadata& metadata)
      : database_(database),
        suffix_(std::move(suffix)),
        out_(out),
        rows_(rows),
        metadata_(metadata) {}

  void read() {
    read_texts("rocpd_string", "string", strings_);
    read_numbers("rocpd_info_process", "pid", processes_);
    name_processes();
    read_threads();
    read_agents();
    read_symbols();
    read_events();
    read_regions();
    read_dispatches();
    read_copies();
    note_unread("rocpd_memory_allocate");
    note_unread("rocpd_sample");
    note_unread("rocpd_pmc_event");
  }

 private:
  using Ids = std::unordered_map<uint64_t, StringId, TableHash>;
  using Numbers = std::unordered_map<uint64_t, int64_t, TableHash>;
  struct Event {
    StringId category, message;
    std::optional<int64_t> stack, parent;
  };
  struct Symbol {
    StringId name;
    std::optional<int64_t> registers;
  };

  template <size_t kColumns>
  void scan(std::string_view base, const std::array<std::string_view, kColumns>& columns,
            const std::function<void(const SqliteRow&)>& visit) {
    const std::string table = fmt::format("{}{}", base, suffix_);
    if (database_.scan(table, columns, visit) == ScanEnd::kDamaged) {
      out_.diagnostics().add(Flaw::kDamagedTable, table);
    }
  }

  void note_unread(std::string_view base) {
    const std::string table = fmt::format("{}{}", base, suffix_);
    if (!database_.is_empty(table)) out_.diagnostics().add(Flaw::kUnreadTable, table);
  }

  void read_texts(std::string_view base, std::string_view column, Ids& into) {
    scan<2>(base, {"id", column}, [&](const SqliteRow& row) {
      if (const auto id = row.integer(0)) {
        into.try_emplace(static_cast<uint64_t>(*id), rows_.rows().text(row.text(1)));
      }
    });
  }

  void read_numbers(std::string_view base, std::string_view column, Numbers& into) {
    scan<2>(base, {"id", column}, [&](const SqliteRow& row) {
      const auto id = row.integer(0), number = row.integer(1);
      if (id && number) into.try_emplace(static_cast<uint64_t>(*id), *number);
    });
  }

  void name_processes() {
    scan<2>("rocpd_info_process", {"pid", "command"}, [this](const SqliteRow& row) {
      const auto pid = row.integer(0);
      std::string_view command = row.text(1);
      command = command.substr(0, command.find(' '));
      command = command.substr(command.rfind('/') + 1);
      if (pid && !command.empty()) {
        out_.name_process(rows_.rows().thread(*pid, *pid), rows_.rows().text(command));
      }
    });
  }

  void read_threads() {
    scan<4>("rocpd_info_thread", {"id", "tid", "pid", "name"}, [this](const SqliteRow& row) {
      const auto id = row.integer(0), tid = row.integer(1);
      if (!id || !tid) return;
      threads_.try_emplace(static_cast<uint64_t>(*id), *tid);
      if (!row.text(3).empty()) {
        out_.name_thread(rows_.rows().thread(process(row.integer(2)), *tid),
                         rows_.rows().text(row.text(3)));
      }
    });
  }

  void read_agents() {
    int64_t gpus = 0;
    scan<7>("rocpd_info_agent",
            {"id", "type", "type_index", "logical_index", "product_name", "name", "model_name"},
            [&](const SqliteRow& row) {
              if (row.text(1) != "GPU") return;
              const int64_t device = row.integer(2).value_or(gpus);
              ++gpus;
              if (const auto id = row.integer(0)) {
                devices_.try_emplace(static_cast<uint64_t>(*id), device);
              }
              std::string_view name = row.text(4);
              for (const size_t column : {size_t{5}, size_t{6}}) {
                if (name.empty()) name = row.text(column);
              }
              metadata_.gpus.push_back(
                  {device, std::string(out_.text(rows_.rows().text(name))), {}, {}, {}, {}});
            });
  }

  void read_symbols() {
    scan<5>("rocpd_info_kernel_symbol",
            {"id", "display_name", "kernel_name", "arch_vgpr_count", "accum_vgpr_count"},
            [this](const SqliteRow& row) {
              const auto id = row.integer(0);
              if (!id) return;
              const std::string_view name = row.text(1).empty() ? row.text(2) : row.text(1);
              Symbol symbol{rows_.rows().text(kernel_name(name)), {}};
              if (const auto registers = small_number(row.integer(3))) {
                symbol.registers = int64_t{*registers} + small_number(row.integer(4)).value_or(0);
              }
              symbols_.try_emplace(static_cast<uint64_t>(*id), symbol);
            });
  }

  // stack_id is the correlation of rocprofiler-sdk; correlation_id is the one that programs set.
  void read_events() {
    scan<5>("rocpd_event", {"id", "category_id", "stack_id", "parent_stack_id", "extdata"},
            [this](const SqliteRow& row) {
              const auto id = row.integer(0);
              if (!id) return;
              Event event{string(row.integer(1)), {}, row.integer(2), row.integer(3)};
              if (out_.text(event.category).starts_with("MARKER")) {
                event.message = message_in(row.text(4));
              }
              events_.try_emplace(static_cast<uint64_t>(*id), event);
            });
  }

  // {"message": "what the ROCTx range is called"}
  StringId message_in(std::string_view json_text) {
    StringId message;
    JsonCursor json(json_text);
    if (json_text.empty() || !json.enter('{')) return message;
    while (const auto key = json.next_key()) {
      if (*key == "message")
        message = rows_.rows().text(json_unescaped(json.string()));
      else
        json.skip();
    }
    return message;
  }

  StringId string(std::optional<int64_t> id) const {
    const auto found = id ? strings_.find(static_cast<uint64_t>(*id)) : strings_.end();
    return found == strings_.end() ? StringId{} : found->second;
  }
  Event event(std::optional<int64_t> id) const {
    const auto found = id ? events_.find(static_cast<uint64_t>(*id)) : events_.end();
    return found == events_.end() ? Event{} : found->second;
  }
  static std::optional<int64_t> number(const Numbers& numbers, std::optional<int64_t> id) {
    const auto found = id ? numbers.find(static_cast<uint64_t>(*id)) : numbers.end();
    return found == numbers.end() ? std::nullopt : std::optional(found->second);
  }
  int64_t process(std::optional<int64_t> id) const {
    return number(processes_, id).value_or(id.value_or(0));
  }

  void read_regions() {
    scan<6>(kRegions, {"start", "end", "name_id", "event_id", "pid", "tid"},
            [this](const SqliteRow& row) {
              StringId name = string(row.integer(2));
              if (!name.valid()) name = out_.intern("call without a name");
              const Event e = event(row.integer(3));
              if (!out_.text(e.message).empty()) name = e.message;
              const int64_t pid = process(row.integer(4));
              const auto tid = number(threads_, row.integer(5));
              const TraceRows::Call call{row.integer(0), row.integer(1), e.stack,
                                         tid ? tid : row.integer(5)};
              const std::string_view category = out_.text(e.category);
              const std::string_view text = out_.text(name);
              const bool hip = category.starts_with("HIP") || category.starts_with("hip") ||
                               (category.empty() && text.starts_with("hip"));
              const bool hsa = category.starts_with("HSA") || category.starts_with("hsa") ||
                               (category.empty() && text.starts_with("hsa"));
              if (!hip && !hsa) return rows_.add_range(name, pid, call);
              if (e.stack) calls_[key(pid, *e.stack)] = 1;
              rows_.add_api(name, hsa, pid, call);
            });
  }

  static uint64_t key(int64_t pid, int64_t stack) {
    return TableHash{}(static_cast<uint64_t>(pid), static_cast<uint64_t>(stack));
  }

  // The call itself, or the one around it where only that is in the file.
  std::optional<int64_t> launch_of(const Event& e, int64_t pid) const {
    const bool own = e.stack && calls_.contains(key(pid, *e.stack));
    const bool above = e.parent && calls_.contains(key(pid, *e.parent));
    return !own && above ? e.parent : e.stack;
  }

  void read_dispatches() {
    scan<16>(kDispatches,
             {"start", "end", "kernel_id", "event_id", "pid", "agent_id", "queue_id", "stream_id",
              "group_segment_size", "workgroup_size_x", "workgroup_size_y", "workgroup_size_z",
              "grid_size_x", "grid_size_y", "grid_size_z", "kernel_name"},
             [this](const SqliteRow& row) {
               const int64_t pid = process(row.integer(4));
               Dispatch d;
               d.begin = row.integer(0);
               d.end = row.integer(1);
               d.correlation = launch_of(event(row.integer(3)), pid);
               d.device = number(devices_, row.integer(5));
               d.queue = row.integer(6);
               d.stream = row.integer(7);
               d.lds = row.integer(8);
               for (size_t i = 0; i < 3; ++i) {
                 d.workgroup[i] = row.integer(9 + i);
                 d.grid[i] = row.integer(12 + i);
               }
               const auto id = row.integer(2);
               const auto symbol = id ? symbols_.find(static_cast<uint64_t>(*id)) : symbols_.end();
               StringId name;
               if (symbol != symbols_.end()) {
                 name = symbol->second.name;
                 d.registers = symbol->second.registers;
               } else if (row.is_text(15)) {
                 name = rows_.rows().text(kernel_name(row.text(15)));
               } else {
                 name = out_.intern(id ? fmt::format("kernel {}", *id) : "kernel without a name");
               }
               rows_.add_kernel(name, pid, d);
             });
  }

  void read_copies() {
    scan<9>(kCopies,
            {"start", "end", "name_id", "event_id", "pid", "dst_agent_id", "src_agent_id", "size",
             "stream_id"},
            [this](const SqliteRow& row) {
              const int64_t pid = process(row.integer(4));
              const auto to = number(devices_, row.integer(5));
              const auto from = number(devices_, row.integer(6));
              const std::string name = copy_name(out_.text(string(row.integer(2))));
              rows_.add_copy(out_.intern(name), pid,
                             {row.integer(0), row.integer(1), launch_of(event(row.integer(3)), pid),
                              to ? to : from, row.integer(8), row.integer(7)});
            });
  }

  const SqliteDatabase& database_;
  std::string suffix_;
  EventStoreBuilder& out_;
  TraceRows& rows_;
  TraceMetadata& metadata_;
  Ids strings_;
  Numbers processes_, threads_, devices_, calls_;
  std::unordered_map<uint64_t, Symbol, TableHash> symbols_;
  std::unordered_map<uint64_t, Event, TableHash> events_;
};

std::vector<std::string> suffixes(const SqliteDatabase& database) {
  std::vector<std::string> found;
  for (const std::string& table : database.tables()) {
    for (const std::string_view base : {kDispatches, kRegions, kCopies}) {
      if (auto suffix = suffix_of(table, base)) found.push_back(std::move(*suffix));
    }
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::string schema_of(const SqliteDatabase& database, const std::string& suffix) {
  std::string version;
  constexpr std::array<std::string_view, 2> kColumns = {"tag", "value"};
  (void)database.scan("rocpd_metadata" + suffix, kColumns, [&](const SqliteRow& row) {
    if (row.text(0) == "schema_version") version = row.text(1).substr(0, 20);
  });
  return version;
}

}  // namespace

bool is_rocpd(const SqliteDatabase& database) { return !suffixes(database).empty(); }

Result<EventStore> read_rocpd(const SqliteDatabase& database, const std::string& shown,
                              const ProgressCallback& progress) {
  const std::vector<std::string> parts = suffixes(database);
  if (parts.empty()) return Error{fmt::format("{} is no rocpd database", shown)};
  EventStoreBuilder out;
  TraceRows rows(out);
  TraceMetadata metadata;
  for (const std::string& suffix : parts) {
    RocpdPart(database, suffix, out, rows, metadata).read();
    if (progress) progress(-1);
  }
  const std::string version = schema_of(database, parts.front());
  metadata.source = version.empty() ? "rocprofv3, rocpd database"
                                    : fmt::format("rocprofv3, rocpd schema {}", version);
  return std::move(out).seal(std::move(metadata), database.size());
}

}  // namespace fathom::rocprof
