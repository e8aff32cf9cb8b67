#pragma once

#include "doctor/environment.h"
#include "doctor/machine.h"

namespace fathom {

// Facts that files of the system tell, without a driver's library.
void read_system(const Machine& machine, Environment& out);
void read_pci_gpus(const Machine& machine, Environment& out);
void read_nvidia_files(const Machine& machine, Environment& out);
void read_amd_files(const Machine& machine, Environment& out);

// The value behind a key at the beginning of a line, "Key: value", "key value" or "key=value",
// without quotes and blanks around it.
std::optional<std::string> line_value(std::string_view text, std::string_view key);
// The number that a text begins with.
std::optional<int64_t> whole_number(std::string_view text);
// The first version number in a text: "580.65.06"; empty: none.
std::string first_version(std::string_view text);

}  // namespace fathom
