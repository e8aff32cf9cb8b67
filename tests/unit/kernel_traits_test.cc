#include "base/kernel_traits.h"

#include <gtest/gtest.h>

namespace fathom {
namespace {

struct Named {
  std::string_view name, library, family, tile, dtype, layout;
};

TEST(KernelTraits, AreReadOfRealNames) {
  const Named cases[] = {
      {"nvjet_sm90_tst_256x128_64x4_1x2_h_bz_coopA_TNT", "nvjet", "gemm", "256x128x64", "bf16",
       "tnt"},
      {"nvjet_hsh_64x8_64x16_4x1_v_bz_splitK_NNT", "nvjet", "gemm", "64x8x64", "fp16", "nnt"},
      {"ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_64x4_tn", "cublas", "gemm", "128x64x64",
       "bf16", "tn"},
      {"volta_sgemm_128x64_nn", "cublas", "gemm", "128x64", "fp32", "nn"},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
       "segment_k_off_kernel__5x_cublas",
       "cublas", "gemm", "128x128x64", "bf16", "tn"},
      {"void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_f16_128x64_32x6_nn_align8>("
       "cutlass_80_tensorop_f16_s16816gemm_f16_128x64_32x6_nn_align8::Params)",
       "cutlass", "gemm", "128x64x32", "fp16", "nn"},
      {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, "
       "int, int>, cutlass::gemm::collective::CollectiveMma<cutlass::gemm::"
       "MainloopSm90TmaGmmaWarpSpecialized<4, cute::tuple<cute::C<2>, cute::C<1>, cute::C<1> > >, "
       "cute::tuple<cute::C<128>, cute::C<256>, cute::C<64> >, cutlass::float_e4m3_t, "
       "cutlass::layout::RowMajor, cutlass::float_e4m3_t, cutlass::layout::ColumnMajor> > >",
       "cutlass", "gemm", "128x256x64", "fp8", "tn"},
      {"sm80_xmma_fprop_implicit_gemm_f16f16_f16f32_f32_nhwckrsc_nhwc_tilesize128x128x32_stage4_"
       "warpsize2x2x1_g1_tensor16x8x16_kernel_cudnn",
       "cudnn", "convolution", "128x128x32", "fp16", "nhwc"},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_7_64x128x128_4x1x1_"
       "cga1x1x1_kernel0_0",
       "cudnn", "attention", "64x128x128", "fp16", ""},
      {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4, false, "
       "false, cutlass::bfloat16_t> >(Flash_fwd_params)",
       "flash attention", "attention", "128x64x128", "bf16", ""},
      {"Cijk_Alik_Bljk_HHS_BH_MT128x64x32_MI32x32x8x1_SN_1LDSB0", "tensile", "gemm", "128x64x32",
       "fp16", "tn"},
      {"Cijk_Ailk_Bljk_BBS_BH_MT256x256x64_MI16x16x16x1", "tensile", "gemm", "256x256x64", "bf16",
       "nn"},
      {"void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<ck::tensor_layout::"
       "gemm::RowMajor, ck::tensor_layout::gemm::ColumnMajor, ck::tensor_layout::gemm::RowMajor, "
       "__half, __half> >",
       "ck", "gemm", "", "fp16", "tn"},
      {"triton_poi_fused__unsafe_view_mul_silu_6", "triton", "elementwise", "", "", ""},
      {"triton_red_fused__to_copy_add_embedding_mean_mul_pow_rsqrt_0", "triton", "reduction", "",
       "", ""},
      {"void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::"
       "BFloat16>, std::array<char*, 3ul> >(int)",
       "pytorch", "elementwise", "", "bf16", ""},
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "nccl",
       "collective", "", "bf16", ""},
      {"_Z12my_gemm_tilePK6__halfi", "", "gemm", "", "fp16", ""},
      // Near-twins: nothing is read into names that only look alike.
      {"halftone(int)", "", "", "", "", ""},
      {"floatation_kernel(int)", "", "", "", "", ""},
      {"resize_128x64(int)", "", "", "", "", ""},
      {"", "", "", "", "", ""},
  };
  for (const Named& want : cases) {
    const KernelTraits got = kernel_traits(want.name);
    EXPECT_EQ(got.library, want.library) << want.name;
    EXPECT_EQ(got.family, want.family) << want.name;
    EXPECT_EQ(got.tile, want.tile) << want.name;
    EXPECT_EQ(got.dtype, want.dtype) << want.name;
    EXPECT_EQ(got.layout, want.layout) << want.name;
  }
}

TEST(KernelTraits, ReadABoundedPartOfAName) {
  std::string name = "k<";
  for (int i = 0; i < 200000; ++i) name += "tuple<C<1>,";
  EXPECT_EQ(kernel_traits(name).tile, "");
  EXPECT_EQ(kernel_traits(std::string(5'000'000, 'x')).family, "");
}

}  // namespace
}  // namespace fathom
