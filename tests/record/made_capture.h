#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "base/text_source.h"
#include "capture/chunk_writer.h"

// Captures made in memory.
namespace fathom {

class StringSink : public capture::ByteSink {
 public:
  int write(std::string_view bytes) override {
    text += bytes;
    return 0;
  }
  std::string text;
};

// A process that launches `kernels` kernels, four to a chunk.
inline std::string made_capture(int kernels) {
  StringSink sink;
  capture::ChunkWriter writer(sink);
  writer.begin();
  writer.write_meta("tool\tfathom record\t0\nprocess\t77\t1\t./program --fast\n");
  writer.write_meta("driver\t13000\ngpu\t0\tNVIDIA H200\t132\t150000000000\t9\t0\n");
  for (int at = 0; at < kernels; at += 4) {
    std::vector<capture::Kernel> chunk;
    std::vector<capture::Call> calls;
    for (int i = at; i < std::min(at + 4, kernels); ++i) {
      capture::Kernel kernel = {};
      kernel.start = 1'000'000 + static_cast<uint64_t>(i) * 1000;
      kernel.end = kernel.start + 400;
      kernel.name = writer.text(i % 2 == 0 ? "even(float*)" : "odd<3>(int)");
      kernel.correlation = static_cast<uint32_t>(i) + 1;
      kernel.stream = 7;
      kernel.grid[0] = 128;
      kernel.grid[1] = kernel.grid[2] = 1;
      kernel.block[0] = 256;
      kernel.block[1] = kernel.block[2] = 1;
      kernel.registers = 32;
      kernel.static_shared = 1024;
      kernel.dynamic_shared = 2048;
      chunk.push_back(kernel);
      calls.push_back({kernel.start - 300, kernel.start - 100, writer.text("cudaLaunchKernel"), 78,
                       kernel.correlation, 0, 0, 0});
    }
    writer.write<capture::Kernel>(capture::ChunkKind::kKernels, chunk);
    writer.write<capture::Call>(capture::ChunkKind::kCalls, calls);
  }
  return sink.text;
}

}  // namespace fathom
