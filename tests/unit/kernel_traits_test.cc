#include "base/kernel_traits.h"

#include "checks.h"

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
      {"loop_multiply_fusion", "xla", "elementwise", "", "", ""},
      {"input_reduce_subtract_fusion", "xla", "reduction", "", "", ""},
      {"wrapped_transpose_1", "xla", "copy", "", "", ""},
      {"gemm_fusion_dot_general_8", "", "gemm", "", "", ""},
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

TEST(KernelTraits, EveryKindOfKernelHasItsFamilyAndCategory) {
  struct Kind {
    std::string_view name, family, category;
  };
  const Kind cases[] = {
      {"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "collective",
       "communication"},
      {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(int)",
       "collective", "communication"},
      {"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>(vllm::RankData*)", "collective",
       "communication"},
      {"__amd_rocclr_copyBuffer", "copy", "memcpy"},
      {"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_TNT", "gemm", "gemm"},
      {"Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x192x64_MI16x16x1", "gemm", "gemm"},
      {"void sgemm_largek_lds64<true, false, 5, 5, 4, 4, 4, 34>(float*)", "gemm", "gemm"},
      {"ampere_fp16_s16816gemm_fp16_128x64_ldg8_stages_32x6_tn", "gemm", "gemm"},
      {"void gemv2T_kernel_val<int, int, float, float, float, float, 128, 16, 4, 4, false>()",
       "gemm", "gemm"},
      {"void cublasLt::splitKreduce_kernel<32, 16, int, float>(int)", "split-K reduction", "gemm"},
      {"_matmul_ogs_NNT_bf16xbf16xmxfp4_16x256x128", "gemm", "gemm"},
      {"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3", "gemm", "gemm"},
      {"triton_tem_fused_mm_12", "gemm", "gemm"},
      {"triton_mm", "gemm", "gemm"},
      {"triton_tem_fused_flex_attention_3", "attention", "sdpa_fwd"},
      {"triton_poi_fused__scaled_dot_product_cudnn_attention_scalar_tensor_where_4", "elementwise",
       "triton"},
      {"triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0", "reduction", "triton"},
      {"void pytorch_flash::flash_fwd_splitkv_kernel<int>(Flash_fwd_params)", "attention",
       "sdpa_fwd"},
      {"void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<int>(int)", "attention",
       "sdpa_bwd"},
      {"fmha_cutlassF_bf16_aligned_64x64_rf_sm80(PyTorchMemEffAttention::AttentionKernel)",
       "attention", "sdpa_fwd"},
      {"fmha_cutlassB_f16_aligned_64x64_k64_sm80(PyTorchMemEffAttention::AttentionBackwardKernel)",
       "attention", "sdpa_bwd"},
      {"attn_fwd", "attention", "sdpa_fwd"},
      {"void vllm::paged_attention_v2_kernel<__hip_bfloat16, 128>(float*)", "attention",
       "sdpa_fwd"},
      {"void flashinfer::BatchDecodeWithPagedKVCacheKernel<2>(int)", "attention", "sdpa_fwd"},
      {"fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext",
       "attention", "sdpa_fwd"},
      {"cudnn_generated_fort_native_sdpa_sm90_flash_bprop_wgmma_f16_knob_26_64x64x64", "attention",
       "sdpa_bwd"},
      // Near-twins: a cache that flash attention reads, and a rotary table, are neither.
      {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>(int)", "index", "elementwise"},
      {"void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*)", "rope", "rope"},
      {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>",
       "normalization", "norm"},
      {"void vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>", "normalization", "norm"},
      {"void at::native::batch_norm_backward_elemt_channels_last_kernel<4>", "normalization",
       "batchnorm"},
      {"void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, float, 4>", "softmax",
       "reduce"},
      {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float>", "softmax",
       "reduce"},
      {"void vllm::moe::topkGatingSoftmax<4, 128, 4, 16, 32, int>(float const*)", "moe",
       "moe_fused"},
      {"fused_moe_kernel", "moe", "moe_fused"},
      {"void vllm::scaled_fp8_quant_kernel_strided<c10::BFloat16>(int)", "quantization",
       "quantization"},
      {"void at_cuda_detail::cub::detail::radix_sort::DeviceRadixSortOnesweepKernel<int>", "sort",
       "elementwise"},
      {"void at::native::sbtopk::gatherTopK<c10::BFloat16, unsigned int, 2, false>", "sort",
       "reduce"},
      {"void at_cuda_detail::cub::detail::scan::DeviceScanKernel<int>", "scan", "elementwise"},
      {"void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long>",
       "index", "elementwise"},
      {"void at::native::vectorized_gather_kernel<16, long>(char*)", "index", "elementwise"},
      {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
       "namespace)::FusedOptimizerTensorListMetadata<4>, FusedAdamMathFunctor>",
       "optimizer", "elementwise"},
      {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >", "reduction",
       "reduce"},
      {"void at::native::(anonymous namespace)::CatArrayBatchedCopy<int, unsigned int, 4>",
       "concatenate", "elementwise"},
      {"void at::native::(anonymous namespace)::distribution_elementwise_grid_stride_kernel<float>",
       "random", "elementwise"},
      {"void vector_fft<256u, EPT<16u>, 4u>(kernel_params_t)", "fft", "other"},
      {"sm90_xmma_wgrad_indexed_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize64x64x64",
       "convolution", "convolution"},
      {"void cudnn::engines_precompiled::nchwToNhwcKernel<__nv_bfloat16>(int)", "layout copy",
       "convolution"},
      {"igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt64x64x16", "convolution", "convolution"},
      {"void at::native::(anonymous namespace)::max_pool_forward_nhwc<c10::BFloat16, int>",
       "pooling", "reduce"},
      // Near-twins: parts of other words are nothing.
      {"set_property(int)", "", "other"},
      {"my_kernel(float*)", "", "other"},
  };
  for (const Kind& want : cases) {
    EXPECT_EQ(kernel_traits(want.name).family, want.family) << want.name;
    EXPECT_EQ(kernel_traits(want.name).category, want.category) << want.name;
    EXPECT_EQ(kernel_category(want.name), want.category) << want.name;
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
