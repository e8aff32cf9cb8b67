// One function for each path, each in a file of its own that is compiled for its instructions.
#pragma once

#include <cstddef>

namespace fathom::radix {

size_t first_difference_portable(const void* a, const void* b, size_t bytes);
size_t first_difference_avx2(const void* a, const void* b, size_t bytes);
size_t first_difference_avx512(const void* a, const void* b, size_t bytes);

// As fast as the path's loads can read both buffers, comparing nothing: what the paths are measured
// against. Returns something that depends on every byte.
size_t read_both_portable(const void* a, const void* b, size_t bytes);
size_t read_both_avx2(const void* a, const void* b, size_t bytes);
size_t read_both_avx512(const void* a, const void* b, size_t bytes);

}  // namespace fathom::radix
