#pragma once

#include <vector>

#include "probe/loaded_objects.h"
#include "probe/native_probe.h"

// Sends the calls of the wanted functions through recorded_call.
namespace fathom::probe {

// Before all others, once.
void set_wanted(std::vector<NativeProbe> probes);
bool is_wanted(const char* name);
// What a call of `target` goes to instead; null: to itself. Each probe of it gets its numbers.
void* instead_of(void* target, const char* name, bool must_be_function);

// Calls that go from the object to another.
void patch_object(const LoadedObject& object);
// Calls inside an object. `is_early`: no other thread runs its code yet.
void patch_direct_calls(const LoadedObject& object, bool is_early);

}  // namespace fathom::probe
