#include "ingest/rocprof/trace_json.h"

#include <fmt/format.h>

#include <unordered_set>

#include "base/json_unescape.h"
#include "ingest/rocprof/json_cursor.h"
#include "ingest/rocprof/json_record.h"
#include "ingest/rocprof/trace_rows.h"

namespace fathom::rocprof {
namespace {

// One process's part of the file.
class JsonProcess {
 public:
  JsonProcess(std::string_view text, EventStoreBuilder& out, TraceRows& rows,
              TraceMetadata& metadata)
      : text_(text), out_(out), rows_(rows), metadata_(metadata) {}

  // What names things may come before or after what is named: records are read last.
  void read(JsonCursor& json) {
    std::optional<size_t> records;
    if (json.enter('{')) {
      while (const auto key = json.next_key()) {
        if (*key == "metadata") {
          read_process(json);
        } else if (*key == "agents") {
          read_agents(json);
        } else if (*key == "strings") {
          read_strings(json);
        } else if (*key == "kernel_symbols") {
          read_symbols(json);
        } else {
          if (*key == "buffer_records") records = json.place();
          json.skip();
        }
      }
    }
    if (records) read_records(JsonCursor(text_, *records));
  }

 private:
  struct KindNames {
    std::string kind;
    std::vector<std::string> operations;
  };
  struct Symbol {
    StringId name;
    std::optional<int64_t> registers;
  };

  void read_process(JsonCursor& json) {
    if (!json.enter('{')) return;
    while (const auto key = json.next_key()) {
      if (*key == "pid") {
        process_ = json.integer().value_or(0);
      } else if (*key == "command" && json.enter('[')) {
        std::string command;
        while (json.next_item()) {
          if (command.empty())
            command = json_unescaped(json.string());
          else
            json.skip();
        }
        command_ = command.substr(command.rfind('/') + 1);
      } else if (*key != "command") {
        json.skip();
      }
    }
    if (!command_.empty()) {
      out_.name_process(rows_.rows().thread(process_, process_), rows_.rows().text(command_));
    }
  }

  void read_agents(JsonCursor& json) {
    constexpr int64_t kGpuType = 2;
    int64_t gpus = 0;
    if (!json.enter('[')) return;
    while (json.next_item()) {
      std::optional<int64_t> handle, type, units, memory, number, version;
      std::string name, product;
      if (json.enter('{')) {
        while (const auto key = json.next_key()) {
          if (*key == "id") {
            handle = inner(json, "handle");
          } else if (*key == "type") {
            type = json.integer();
          } else if (*key == "cu_count") {
            units = json.integer();
          } else if (*key == "logical_node_type_id") {
            number = json.integer();
          } else if (*key == "gfx_target_version") {
            version = json.integer();
          } else if (*key == "name") {
            name = json_unescaped(json.string());
          } else if (*key == "product_name") {
            product = json_unescaped(json.string());
          } else if (*key == "mem_banks") {
            memory = largest_bank(json);
          } else {
            json.skip();
          }
        }
      }
      if (type != kGpuType) continue;
      const int64_t id = number.value_or(gpus);
      ++gpus;
      if (handle) devices_.try_emplace(static_cast<uint64_t>(*handle), id);
      metadata_.gpus.push_back(
          {id,
           std::string(out_.text(rows_.rows().text(product.empty() ? name : product))),
           units,
           memory,
           {},
           {}});
    }
  }

  static std::optional<int64_t> inner(JsonCursor& json, std::string_view wanted) {
    std::optional<int64_t> found;
    if (!json.enter('{')) return found;
    while (const auto key = json.next_key()) {
      if (*key == wanted)
        found = json.integer();
      else
        json.skip();
    }
    return found;
  }

  static std::optional<int64_t> largest_bank(JsonCursor& json) {
    std::optional<int64_t> largest;
    if (!json.enter('[')) return largest;
    while (json.next_item()) {
      const auto size = inner(json, "size_in_bytes");
      if (size && (!largest || *size > *largest)) largest = size;
    }
    return largest;
  }

  void read_strings(JsonCursor& json) {
    if (!json.enter('{')) return;
    while (const auto key = json.next_key()) {
      if (*key == "buffer_records") {
        read_operation_names(json);
      } else if (*key == "marker_api") {
        read_messages(json);
      } else {
        json.skip();
      }
    }
  }

  void read_operation_names(JsonCursor& json) {
    if (!json.enter('[')) return;
    while (json.next_item()) {
      KindNames names;
      if (json.enter('{')) {
        while (const auto key = json.next_key()) {
          if (*key == "kind") {
            names.kind = json_unescaped(json.string());
          } else if (*key == "operations" && json.enter('[')) {
            while (json.next_item()) names.operations.push_back(json_unescaped(json.string()));
          } else if (*key != "operations") {
            json.skip();
          }
        }
      }
      kinds_.push_back(std::move(names));
    }
  }

  // What ROCTx ranges are called, by the correlation of the call.
  void read_messages(JsonCursor& json) {
    if (!json.enter('[')) return;
    while (json.next_item()) {
      std::optional<int64_t> correlation;
      std::string_view message;
      if (json.enter('{')) {
        while (const auto key = json.next_key()) {
          if (*key == "key")
            correlation = json.integer();
          else if (*key == "value")
            message = json.string();
          else
            json.skip();
        }
      }
      if (correlation) {
        messages_.try_emplace(static_cast<uint64_t>(*correlation),
                              rows_.rows().text(json_unescaped(message)));
      }
    }
  }

  void read_symbols(JsonCursor& json) {
    if (!json.enter('[')) return;
    while (json.next_item()) {
      std::optional<int64_t> id, vector_registers, accumulation;
      std::string_view formatted, demangled, raw;
      if (json.enter('{')) {
        while (const auto key = json.next_key()) {
          if (*key == "kernel_id")
            id = json.integer();
          else if (*key == "formatted_kernel_name")
            formatted = json.string();
          else if (*key == "demangled_kernel_name")
            demangled = json.string();
          else if (*key == "kernel_name")
            raw = json.string();
          else if (*key == "arch_vgpr_count")
            vector_registers = json.integer();
          else if (*key == "accum_vgpr_count")
            accumulation = json.integer();
          else
            json.skip();
        }
      }
      if (!id) continue;
      const std::string_view name = !formatted.empty()   ? formatted
                                    : !demangled.empty() ? demangled
                                                         : raw;
      const auto small = [](std::optional<int64_t> n) { return small_number(n).value_or(0); };
      Symbol symbol{rows_.rows().text(kernel_name(json_unescaped(name))), {}};
      if (vector_registers)
        symbol.registers = int64_t{small(vector_registers)} + small(accumulation);
      symbols_.try_emplace(static_cast<uint64_t>(*id), symbol);
    }
  }

  // Calls first: a copy may name the call inside the call that is in the file.
  void read_records(JsonCursor json) {
    struct Domain {
      std::string name;
      size_t place;
      bool is_read = false;
    };
    std::vector<Domain> domains;
    if (json.enter('{')) {
      while (const auto key = json.next_key()) {
        domains.push_back({std::string(*key), json.place()});
        json.skip();
      }
    }
    const auto read = [&](std::string_view wanted, auto add) {
      for (Domain& domain : domains) {
        if (domain.name != wanted) continue;
        domain.is_read = true;
        JsonCursor records(text_, domain.place);
        if (!records.enter('[')) continue;
        while (records.next_item()) {
          JsonRecord record;
          read_json_record(records, record);
          // The one that breaks off is not whole.
          if (!records.failed()) add(record);
        }
      }
    };
    for (const char* domain : {"hip_api", "hip_runtime_api", "hip_compiler_api"}) {
      read(domain, [this](const JsonRecord& r) { add_call(r, false); });
    }
    read("hsa_api", [this](const JsonRecord& r) { add_call(r, true); });
    for (const char* domain : {"marker_api", "rccl_api", "rocdecode_api", "rocjpeg_api", "ompt"}) {
      read(domain, [this](const JsonRecord& r) { add_range(r); });
    }
    read("kernel_dispatch", [this](const JsonRecord& r) { add_kernel(r); });
    read("memory_copy", [this](const JsonRecord& r) { add_copy(r); });
    for (const Domain& domain : domains) {
      JsonCursor records(text_, domain.place);
      if (!domain.is_read && records.enter('[') && records.next_item()) {
        out_.diagnostics().add(Flaw::kUnreadTable, domain.name);
      }
    }
  }

  StringId operation_name(const JsonRecord& r) {
    if (r.kind && r.operation && *r.kind >= 0 && *r.operation >= 0 &&
        *r.kind < static_cast<int64_t>(kinds_.size())) {
      const KindNames& names = kinds_[static_cast<size_t>(*r.kind)];
      if (*r.operation < static_cast<int64_t>(names.operations.size())) {
        return rows_.rows().text(names.operations[static_cast<size_t>(*r.operation)]);
      }
    }
    return out_.intern("call without a name");
  }

  TraceRows::Call call_of(const JsonRecord& r) const {
    return {r.begin, r.end, r.correlation, r.thread};
  }

  void add_call(const JsonRecord& r, bool is_hsa) {
    if (r.correlation) calls_.insert(static_cast<uint64_t>(*r.correlation));
    rows_.add_api(operation_name(r), is_hsa, process_, call_of(r));
  }

  void add_range(const JsonRecord& r) {
    const auto message =
        r.correlation ? messages_.find(static_cast<uint64_t>(*r.correlation)) : messages_.end();
    rows_.add_range(message != messages_.end() ? message->second : operation_name(r), process_,
                    call_of(r));
  }

  std::optional<int64_t> device_of(std::optional<int64_t> handle) const {
    const auto found = handle ? devices_.find(static_cast<uint64_t>(*handle)) : devices_.end();
    return found == devices_.end() ? std::nullopt : std::optional(found->second);
  }

  // Of the record itself, or of the call around it where that one is in the file.
  std::optional<int64_t> launch_of(const JsonRecord& r) const {
    const bool own = r.correlation && calls_.contains(static_cast<uint64_t>(*r.correlation));
    const bool above = r.ancestor && calls_.contains(static_cast<uint64_t>(*r.ancestor));
    return !own && above ? r.ancestor : r.correlation;
  }

  void add_kernel(const JsonRecord& r) {
    const auto found = r.kernel ? symbols_.find(static_cast<uint64_t>(*r.kernel)) : symbols_.end();
    Dispatch dispatch = r.dispatch;
    dispatch.begin = r.begin;
    dispatch.end = r.end;
    dispatch.correlation = launch_of(r);
    dispatch.device = device_of(r.agent);
    dispatch.queue = r.queue;
    dispatch.stream = r.stream;
    StringId name;
    if (found != symbols_.end()) {
      name = found->second.name;
      dispatch.registers = found->second.registers;
    } else {
      name = out_.intern(r.kernel ? fmt::format("kernel {}", *r.kernel) : "kernel without a name");
    }
    rows_.add_kernel(name, process_, dispatch);
  }

  void add_copy(const JsonRecord& r) {
    const auto to = device_of(r.target);
    const StringId name = out_.intern(copy_name(out_.text(operation_name(r))));
    rows_.add_copy(
        name, process_,
        {r.begin, r.end, launch_of(r), to ? to : device_of(r.source), r.stream, r.bytes});
  }

  std::string_view text_;
  EventStoreBuilder& out_;
  TraceRows& rows_;
  TraceMetadata& metadata_;
  int64_t process_ = 0;
  std::string command_;
  std::vector<KindNames> kinds_;
  std::unordered_map<uint64_t, StringId, TableHash> messages_;  // by correlation
  std::unordered_map<uint64_t, Symbol, TableHash> symbols_;     // by kernel id
  std::unordered_map<uint64_t, int64_t, TableHash> devices_;    // by handle
  std::unordered_set<uint64_t, TableHash> calls_;               // correlations
};

}  // namespace

Result<EventStore> read_trace_json(std::string_view text, const std::string& shown) {
  EventStoreBuilder out;
  TraceRows rows(out);
  TraceMetadata metadata;
  JsonCursor json(text);
  bool found = false;
  if (json.enter('{')) {
    while (const auto key = json.next_key()) {
      if (*key != kJsonKey.substr(1, kJsonKey.size() - 2)) {
        json.skip();
        continue;
      }
      found = true;
      if (!json.enter('[')) continue;
      while (json.next_item()) JsonProcess(text, out, rows, metadata).read(json);
    }
  }
  if (!found) return Error{fmt::format("{} is not rocprofv3 output", shown)};
  if (json.failed()) out.diagnostics().add(Flaw::kTruncated);
  metadata.source = "rocprofv3";
  return std::move(out).seal(std::move(metadata), static_cast<int64_t>(text.size()));
}

}  // namespace fathom::rocprof
