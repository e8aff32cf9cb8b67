#pragma once

#include <string>
#include <string_view>

namespace fathom {

// Names as two runs of one program share them: what a run counts or makes up anew becomes '*'.

// Addresses (0x…) and long hashes: "## Call CompiledFxGraph f65t5h… ##".
std::string stable_op_name(std::string_view name);

// Also a number at the end, which counts steps or calls: "ProfilerStep#12" is "ProfilerStep#*".
std::string stable_annotation_name(std::string_view name);

// "nn.Module: Linear_3" is "Linear": the number is the object's. Empty for a frame of no module.
std::string stable_module_name(std::string_view frame_name);

}  // namespace fathom
