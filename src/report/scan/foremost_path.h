#pragma once

#include "scan/facts/code_facts.h"

// Which of the ways from an entry point a page tells first. Derived.
namespace fathom {

// One step that may go elsewhere makes a possible way of all of it.
bool is_sure(const RequestPath& path);
bool is_of_library(const RequestPath& path);
// "layers.batched_nms_rotated" and the kernel nms_rotated_kernel share a word; of a method the name
// of its class counts, of a function not that of its module.
bool is_called_like(const CodeFacts& facts, const RequestPath& path);
// Of an entry point's ways the one to the most important kernel; a function's first way, where that
// is to the kernel that is called like it.
const RequestPath& foremost_path(const CodeFacts& facts, const RequestPath& first);

}  // namespace fathom
