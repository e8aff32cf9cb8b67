#pragma once

#include <string_view>

#include "events/counter_set.h"

namespace fathom::ncu {

// The kernels of a report file (.ncu-rep, version 7): "NVR\0", a file header, then blocks of a
// header with a string table and sized protocol buffer messages. Field numbers are those of the
// .proto files that come with Nsight Compute (extras/FileFormat); of what is not read, such as the
// code of kernels, nothing is assumed. What lies behind damage is lost, and said.
void read_report(std::string_view bytes, CounterSetBuilder& builder);

bool is_report(std::string_view head);

}  // namespace fathom::ncu
