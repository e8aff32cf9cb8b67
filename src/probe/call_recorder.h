#pragma once

#include <cstdint>
#include <string_view>

// Stands between a caller and the function that it calls.
namespace fathom::probe {

// Makes a place that calls `target` and records each call. Null where there is no room. The same
// target has the same place, whatever number of probes are of it. `numbers`: bit 0 for the result,
// bits 1 to 6 for arguments. Used by one thread at a time.
void* recorded_call(void* target, uint32_t probe, std::string_view name, uint32_t numbers);

// Whether it is one of those places.
bool is_recorded_call(const void* address);

// Where files are made; without it nothing is recorded.
void set_call_directory(std::string_view text);

// In the child of a fork: it is another process from here on. Not each way to fork tells it.
void forked();

}  // namespace fathom::probe
