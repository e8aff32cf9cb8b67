#pragma once

#include <string_view>

#include "scan/facts/code_facts.h"

namespace fathom {

// How much a file's code says about what the project does.
enum class FileWeight : uint8_t {
  kNone,     // tests, benchmarks, examples, documents, vendored and generated code: features there
             // are somebody else's
  kAside,    // scratch space, scripts, the CPU's own versions: the project's, but not its product
  kProduct,  // everything else
};
FileWeight file_weight(const SourceFile& file);

// Whether what a file's code does is something the project does.
bool carries_weight(const SourceFile& file);

// Whether a folded name says that it is not the thing itself: code to compare with
// ("layernorm_forward_cpu", "topk_fake"), or what there is without it ("cache_no_prefix_cache").
bool is_stand_in(std::string_view folded);

}  // namespace fathom
