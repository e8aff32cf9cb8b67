#pragma once

#include <string>
#include <string_view>

#include "scan/facts/code_facts.h"

namespace fathom {

// The words of scan.json.
std::string_view kernel_kind_name(KernelKind kind);
std::string_view access_kind_name(AccessKind kind);
std::string_view option_kind_name(OptionKind kind);
std::string_view certainty_name(Certainty certainty);

// "src/kernels.cu:34", "src/kernels.cu" for line 0.
std::string place_text(const CodeFacts& facts, const CodePlace& place);
// "fused::rms_norm"; for Triton "module.kernel".
std::string full_name(const KernelFacts& kernel);

}  // namespace fathom
