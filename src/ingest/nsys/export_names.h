#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fathom::nsys {

// cudaLaunchKernel_v7000 → cudaLaunchKernel
std::string_view without_version(std::string_view api);

// "Memcpy HtoD (Pageable -> Device)", as PyTorch's profiler names them.
std::string copy_name(std::optional<int64_t> kind, std::optional<int64_t> from,
                      std::optional<int64_t> to);
std::string memset_name(std::optional<int64_t> memory);
std::string sync_name(std::optional<int64_t> type);

// 2024.5.1.113 → 2024.5.1
std::string_view release_of(std::string_view version);

}  // namespace fathom::nsys
