#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fathom {

// How often the hardware found a warp at an instruction, for one reason.
struct StallSample {
  uint32_t function = 0, reason = 0;  // in StallSamples::texts
  std::optional<uint32_t> file;       // likewise; none: the code has no line information
  uint32_t line = 0, device = 0;
  uint64_t cubin = 0, pc = 0;  // pc: bytes from the start of the function
  uint64_t samples = 0;
};

// PC samples of a recording: all kernels of all of it. They carry no time.
struct StallSamples {
  std::vector<std::string> texts;
  std::vector<StallSample> rows;  // each function, instruction and reason once

  std::optional<uint64_t> period_cycles;  // each SM is sampled this often
  uint64_t dropped = 0;                   // that the hardware had no room for

  std::string_view text(uint32_t index) const { return texts[index]; }
};

// Reasons that are no stall: the warp issued, or could have and another one did.
inline bool is_stall(std::string_view reason) {
  return reason != "selected" && reason != "not_selected";
}

}  // namespace fathom
