#pragma once

// The types of NVML's functions that doctor/ and record/ call by dlsym: our own declarations, so
// that nothing of a driver is needed to build. All return 0 for success.
namespace fathom::nvml {

using Device = void*;
using Call = int();
using Text = int(char*, unsigned);
using DeviceText = int(Device, char*, unsigned);
using DeviceNumber = int(Device, unsigned*);
using DeviceClock = int(Device, int, unsigned*);  // of one of the clocks below

constexpr int kSmClock = 1, kMemoryClock = 2;

}  // namespace fathom::nvml
