#pragma once

#include <string>
#include <string_view>

#include "scan/facts/code_facts.h"

namespace fathom {

// The words of scan.json.
std::string_view access_kind_name(AccessKind kind);
std::string_view option_kind_name(OptionKind kind);
// "columns of a row shared out over threads, again in each round of a loop"
std::string access_pattern_text(const ArrayAccess& access);
// "C++ IndexKernel::run", "TORCH_LIBRARY exports it as norm"
std::string hop_text(const PathHop& hop);
// "PDL if enable", "cluster (2, 1, 1)"
std::string attribute_text(const LaunchAttribute& attribute);
// "sends TokenizeMsg, which this takes from a queue"
std::string reach_text(const CodeFacts& facts, const Reach& reach);
std::string_view entry_kind_name(EntryKind kind);
std::string_view dependency_kind_name(DependencyKind kind);
std::string_view claim_kind_name(ClaimKind kind);
std::string_view certainty_name(Certainty certainty);

// "src/kernels.cu:34", "src/kernels.cu" for line 0.
std::string place_text(const CodeFacts& facts, const CodePlace& place);
// "fused::rms_norm"; for Triton "module.kernel".
std::string full_name(const KernelFacts& kernel);

}  // namespace fathom
