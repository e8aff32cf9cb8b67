#pragma once

#include <cstdint>
#include <vector>

#include "capture/chunk_writer.h"
#include "record/cupti_api.h"
#include "record/recent_records.h"

namespace fathom::record {

// Turns CUPTI's buffers into chunks of a capture. Used by one thread.
class RecordWriter {
 public:
  RecordWriter(const cupti::Api& api, int fd) : api_(api), file_(fd), writer_(file_) {}

  capture::ChunkWriter& chunks() { return writer_; }
  void write_buffer(uint8_t* buffer, size_t valid);
  void write_waits(std::vector<capture::Wait> waits);
  void write_drops(uint64_t records);
  bool saw_kernels() const { return saw_kernels_; }
  // A bit for each GPU, by CUDA's number, that a kernel ran on.
  uint64_t devices() const { return devices_; }
  // Where records go while it holds them; null: to the file.
  void keep_recent(RecentRecords* recent) { recent_ = recent; }

 private:
  void ran_on(uint32_t device) {
    if (device < 64) devices_ |= uint64_t{1} << device;
  }
  void take(const cupti::Record& record);
  void take_kernel(const cupti::KernelRecord& record);
  void take_call(const cupti::CallRecord& record, bool is_driver);
  void flush();
  capture::TextId call_name(bool is_driver, uint32_t callback);

  const cupti::Api& api_;
  capture::FileSink file_;
  capture::ChunkWriter writer_;
  bool saw_kernels_ = false;
  uint64_t devices_ = 0;
  RecentRecords* recent_ = nullptr;

  struct KernelName {
    capture::TextId shown = 0, mangled = 0;
  };
  std::unordered_map<std::string, KernelName> kernel_names_;
  std::vector<capture::TextId> call_names_[2];  // by callback id: runtime, driver

  std::vector<capture::Kernel> kernels_;
  std::vector<capture::Copy> copies_;
  std::vector<capture::Set> sets_;
  std::vector<capture::Call> calls_;
  std::vector<capture::Wait> waits_;
  std::vector<capture::Mark> marks_;
  std::vector<capture::Graph> graphs_;
  std::vector<capture::Allocation> allocations_;
  std::vector<capture::Overhead> overheads_;
};

int64_t now_ns();  // CLOCK_REALTIME

// "cudaLaunchKernel_v7000" → "cudaLaunchKernel"; "cuMemcpyHtoD_v2" stays, that is its name.
std::string_view plain_call_name(std::string_view name);

}  // namespace fathom::record
