#include "record/record_writer.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>

#include "base/ascii.h"

namespace fathom::record {
namespace {

constexpr uint32_t kMostCallbacks = 4096;
constexpr size_t kMostKernelNames = 1 << 16;

std::string demangled(const char* name) {
  int status = 0;
  char* text = abi::__cxa_demangle(name, nullptr, nullptr, &status);
  std::string out = status == 0 && text != nullptr ? text : "";
  std::free(text);
  return out;
}

uint32_t positive(int32_t number) { return number > 0 ? static_cast<uint32_t>(number) : 0; }

}  // namespace

int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::string_view plain_call_name(std::string_view name) {
  const size_t at = name.rfind("_v");
  if (at == std::string_view::npos || name.size() - at < 6) return name;  // _v2 is part of a name
  const std::string_view digits = name.substr(at + 2);
  const bool is_version = std::all_of(digits.begin(), digits.end(), is_digit);
  return is_version ? name.substr(0, at) : name;
}

capture::TextId RecordWriter::call_name(bool is_driver, uint32_t callback) {
  if (callback >= kMostCallbacks) return 0;
  std::vector<capture::TextId>& names = call_names_[is_driver ? 1 : 0];
  if (names.size() <= callback) names.resize(callback + 1, 0);
  if (names[callback] == 0) {
    const char* name = nullptr;
    const uint32_t domain = is_driver ? cupti::kDriverDomain : cupti::kRuntimeDomain;
    const bool known = api_.GetCallbackName(domain, callback, &name) == cupti::kSuccess && name;
    names[callback] = known ? writer_.text(plain_call_name(name))
                            : writer_.text((is_driver ? "driver call " : "runtime call ") +
                                           std::to_string(callback));
  }
  return names[callback];
}

void RecordWriter::take_kernel(const cupti::KernelRecord& r) {
  saw_kernels_ = true;
  ran_on(r.device);
  const std::string mangled = r.name != nullptr ? r.name : "";
  if (kernel_names_.size() >= kMostKernelNames) kernel_names_.clear();
  const auto [known, is_new] = kernel_names_.try_emplace(mangled);
  if (is_new) {
    const std::string shown = demangled(mangled.c_str());
    known->second = shown.empty() ? KernelName{writer_.text(mangled), 0}
                                  : KernelName{writer_.text(shown), writer_.text(mangled)};
  }
  capture::Kernel kernel = {};
  kernel.start = r.start;
  kernel.end = r.end;
  kernel.graph_node = r.graph_node;
  kernel.name = known->second.shown;
  kernel.mangled = known->second.mangled;
  kernel.correlation = r.correlation;
  kernel.device = r.device;
  kernel.context = r.context;
  kernel.stream = r.stream;
  kernel.graph = r.graph;
  for (int i = 0; i < 3; ++i) {
    kernel.grid[i] = positive(r.grid[i]);
    kernel.block[i] = positive(r.block[i]);
    kernel.cluster[i] = r.cluster[i];
  }
  kernel.registers = r.registers;
  kernel.static_shared = positive(r.static_shared);
  kernel.dynamic_shared = positive(r.dynamic_shared);
  kernel.local_per_thread = r.local_per_thread;
  kernels_.push_back(kernel);
}

void RecordWriter::take_call(const cupti::CallRecord& r, bool is_driver) {
  calls_.push_back({r.start, r.end, call_name(is_driver, r.callback), r.thread, r.correlation,
                    r.result, is_driver ? 1u : 0u, 0});
}

void RecordWriter::take(const cupti::Record& record) {
  switch (record.kind) {
    case cupti::kConcurrentKernel:
      return take_kernel(reinterpret_cast<const cupti::KernelRecord&>(record));
    case cupti::kRuntime:
      return take_call(reinterpret_cast<const cupti::CallRecord&>(record), false);
    case cupti::kDriver:
      return take_call(reinterpret_cast<const cupti::CallRecord&>(record), true);
    case cupti::kMemcpy: {
      const auto& r = reinterpret_cast<const cupti::CopyRecord&>(record);
      copies_.push_back({r.start, r.end, r.bytes, r.graph_node, r.correlation, r.device, r.context,
                         r.stream, r.graph, r.copy_kind, r.source, r.target,
                         static_cast<uint8_t>(r.flags & 1), r.device, 0});
      return;
    }
    case cupti::kMemcpyPeer: {
      const auto& r = reinterpret_cast<const cupti::PeerCopyRecord&>(record);
      copies_.push_back({r.start, r.end, r.bytes, r.graph_node, r.correlation, r.device, r.context,
                         r.stream, r.graph, r.copy_kind, r.source, r.target,
                         static_cast<uint8_t>(r.flags & 1),
                         r.device == r.target_device ? r.source_device : r.target_device, 0});
      return;
    }
    case cupti::kMemset: {
      const auto& r = reinterpret_cast<const cupti::SetRecord&>(record);
      sets_.push_back({r.start, r.end, r.bytes, r.graph_node, r.correlation, r.device, r.context,
                       r.stream, r.graph, r.value});
      return;
    }
    case cupti::kSynchronization: {
      const auto& r = reinterpret_cast<const cupti::WaitRecord&>(record);
      waits_.push_back({r.start, r.end, r.correlation, r.context, r.stream, r.event, r.type, 0});
      return;
    }
    case cupti::kMarker: {
      const auto& r = reinterpret_cast<const cupti::MarkRecord&>(record);
      marks_.push_back({r.time, writer_.text(r.name != nullptr ? r.name : ""),
                        writer_.text(r.domain != nullptr ? r.domain : ""), r.id, r.thread,
                        r.flags & 7, 0});
      return;
    }
    case cupti::kGraphTrace: {
      const auto& r = reinterpret_cast<const cupti::GraphRecord&>(record);
      ran_on(r.device);
      graphs_.push_back({r.start, r.end, r.correlation, r.device, r.context, r.stream, r.graph, 0});
      return;
    }
    case cupti::kMemory2: {
      const auto& r = reinterpret_cast<const cupti::MemoryRecord&>(record);
      allocations_.push_back({r.time,
                              r.address,
                              r.bytes,
                              r.correlation,
                              r.device,
                              r.context,
                              r.stream,
                              static_cast<uint8_t>(r.operation == 2),
                              static_cast<uint8_t>(r.memory),
                              {}});
      return;
    }
    case cupti::kOverhead: {
      const auto& r = reinterpret_cast<const cupti::OverheadRecord&>(record);
      overheads_.push_back({r.start, r.end, r.overhead, r.thread, 0, 0});
      return;
    }
    default:
      return;
  }
}

void RecordWriter::write_buffer(uint8_t* buffer, size_t valid) {
  cupti::Record* record = nullptr;
  while (api_.ActivityGetNextRecord(buffer, valid, &record) == cupti::kSuccess) take(*record);
  flush();
}

void RecordWriter::write_waits(std::vector<capture::Wait> waits) {
  if (waits.empty()) return;
  waits_ = std::move(waits);
  flush();
}

void RecordWriter::write_drops(uint64_t records) {
  const std::vector<capture::Drop> drops{{records}};
  if (recent_ != nullptr && recent_->holds())
    recent_->take(capture::ChunkKind::kDrops, drops, now_ns(), writer_);
  else
    writer_.write<capture::Drop>(capture::ChunkKind::kDrops, drops);
}

void RecordWriter::flush() {
  const auto put = [this](capture::ChunkKind kind, auto& records) {
    using R = typename std::decay_t<decltype(records)>::value_type;
    if (recent_ != nullptr && recent_->holds())
      recent_->take(kind, records, now_ns(), writer_);
    else
      writer_.write<R>(kind, records);
    records.clear();
  };
  put(capture::ChunkKind::kKernels, kernels_);
  put(capture::ChunkKind::kCopies, copies_);
  put(capture::ChunkKind::kSets, sets_);
  put(capture::ChunkKind::kCalls, calls_);
  put(capture::ChunkKind::kWaits, waits_);
  put(capture::ChunkKind::kMarks, marks_);
  put(capture::ChunkKind::kGraphs, graphs_);
  put(capture::ChunkKind::kAllocations, allocations_);
  put(capture::ChunkKind::kOverheads, overheads_);
}

}  // namespace fathom::record
