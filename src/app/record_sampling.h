#pragma once

#include <optional>
#include <string>

#include "app/commands.h"
#include "session/record.h"

namespace fathom {

// Options of `record` for what the hardware tells by itself while the program runs.
struct SamplingOptions {
  std::optional<std::string> pm;  // how often the GPU's parts are asked how busy they are
  std::optional<std::string> pc;  // every how many cycles instructions are looked at
  bool no_clocks = false;
};
void add_sampling_options(CLI::App& command, SamplingOptions& options);

// What cannot be asked for together; nothing: all is well.
std::optional<std::string> sampling_mistake(const SamplingOptions& options, bool is_part_of_run);
void put_sampling(const SamplingOptions& options, RecordRequest& request);

}  // namespace fathom
