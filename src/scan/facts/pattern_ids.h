#pragma once

#include <array>
#include <string_view>

namespace fathom::pattern_id {

// The rows of data/features/code_patterns.tsv that code asks for by their id. All others are only
// found and listed, so a new row needs nothing here.
inline constexpr std::string_view kAtomics = "atomics";
inline constexpr std::string_view kBlockBarrier = "block_barrier";
inline constexpr std::string_view kCpAsync = "cp_async";
inline constexpr std::string_view kGather = "gather";
inline constexpr std::string_view kLaunchBounds = "launch_bounds";
inline constexpr std::string_view kLaunchGridStride = "launch_grid_stride";
inline constexpr std::string_view kLdmatrix = "ldmatrix";
inline constexpr std::string_view kMaskedAccess = "masked_access";
inline constexpr std::string_view kMbarrier = "mbarrier";
inline constexpr std::string_view kMfma = "mfma";
inline constexpr std::string_view kMmaSync = "mma_sync";
inline constexpr std::string_view kNamedBarrier = "named_barrier";
inline constexpr std::string_view kNcclCollective = "nccl_collective";
inline constexpr std::string_view kPdlWait = "pdl_wait";
inline constexpr std::string_view kPersistent = "persistent";
inline constexpr std::string_view kPrefixCompare = "prefix_compare";
inline constexpr std::string_view kScatter = "scatter";
inline constexpr std::string_view kSharedDynamic = "shared_dynamic";
inline constexpr std::string_view kSharedMemoryOptIn = "shared_memory_opt_in";
inline constexpr std::string_view kSharedStatic = "shared_static";
inline constexpr std::string_view kTcgen05 = "tcgen05";
inline constexpr std::string_view kTileDot = "tile_dot";
inline constexpr std::string_view kTileReduce = "tile_reduce";
inline constexpr std::string_view kTmaLoad = "tma_load";
inline constexpr std::string_view kVectorAccess = "vector_access";
inline constexpr std::string_view kWarpShuffle = "warp_shuffle";
inline constexpr std::string_view kWarpSpecialisation = "warp_specialisation";
inline constexpr std::string_view kWgmma = "wgmma";
inline constexpr std::string_view kWmma = "wmma";

inline constexpr std::array kAll = {kAtomics,
                                    kBlockBarrier,
                                    kCpAsync,
                                    kGather,
                                    kLaunchBounds,
                                    kLaunchGridStride,
                                    kLdmatrix,
                                    kMaskedAccess,
                                    kMbarrier,
                                    kMfma,
                                    kMmaSync,
                                    kNamedBarrier,
                                    kNcclCollective,
                                    kPdlWait,
                                    kPersistent,
                                    kPrefixCompare,
                                    kScatter,
                                    kSharedDynamic,
                                    kSharedMemoryOptIn,
                                    kSharedStatic,
                                    kTcgen05,
                                    kTileDot,
                                    kTileReduce,
                                    kTmaLoad,
                                    kVectorAccess,
                                    kWarpShuffle,
                                    kWarpSpecialisation,
                                    kWgmma,
                                    kWmma};

}  // namespace fathom::pattern_id
