#include "hopper.cuh"

namespace fathom::attention {

namespace {

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

// Asked of the runtime, so that the library does not have to be linked with the driver's.
EncodeTiled encode_tiled() {
  static const EncodeTiled function = [] {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found{};
    const cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry,
                                                               12000, cudaEnableDefault, &found);
    if (error != cudaSuccess || found != cudaDriverEntryPointSuccess) entry = nullptr;
    return reinterpret_cast<EncodeTiled>(entry);
  }();
  return function;
}

}  // namespace

cudaError_t make_tensor_map(CUtensorMap* map, const void* data, const FathomTensorStrides& strides,
                            const FathomAttention& attention, int heads, int length, int rows) {
  if (encode_tiled() == nullptr) return cudaErrorNotSupported;
  const cuuint64_t panels = static_cast<cuuint64_t>(attention.head_dim / kPanelColumns);
  const cuuint64_t dims[5] = {kPanelColumns, static_cast<cuuint64_t>(length), panels,
                              static_cast<cuuint64_t>(heads),
                              static_cast<cuuint64_t>(attention.batch)};
  const auto bytes = [](int64_t elements) { return static_cast<cuuint64_t>(elements) * 2; };
  const cuuint64_t steps[4] = {bytes(strides.row), bytes(kPanelColumns), bytes(strides.head),
                               bytes(strides.batch)};
  const cuuint32_t box[5] = {kPanelColumns, static_cast<cuuint32_t>(rows),
                             static_cast<cuuint32_t>(panels), 1, 1};
  const cuuint32_t every[5] = {1, 1, 1, 1, 1};
  const CUresult result =
      encode_tiled()(map,
                     attention.element_type == FATHOM_BFLOAT16 ? CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
                                                               : CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                     5, const_cast<void*>(data), dims, steps, box, every,
                     CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                     CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return result == CUDA_SUCCESS ? cudaSuccess : cudaErrorInvalidValue;
}

}  // namespace fathom::attention
