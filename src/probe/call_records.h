#pragma once

#include <cstdint>
#include <string_view>

// The functions whose calls are recorded, and the file of this process that their calls go to. A
// forked child gets a file of its own, with the functions of its parent.
namespace fathom::probe {

// The slot of a function, made where it has none; kMostCallSlots: there is no room. The same target
// has the same slot, whatever number of probes are of it. Used by one thread at a time.
uint32_t call_slot(void* target, uint32_t probe, std::string_view name, uint32_t numbers);
void* call_target(uint64_t slot);
uint32_t call_numbers(uint64_t slot);  // as of recorded_call()

// In whatever thread. What there is no room for is counted as lost.
void add_call(uint64_t slot, uint64_t start, uint64_t end, uint32_t kind);
void add_number(uint64_t slot, uint64_t time, uint32_t number, uint64_t value);

}  // namespace fathom::probe
