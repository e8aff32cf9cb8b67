#include "cost/cost_functions.h"

#include <algorithm>

#include "base/tsv.h"

namespace fathom {
namespace {

constexpr CostNeeds kNothingMore{}, kAnnotations{.annotations = true}, kBelow{.below = true},
    kBoth{.annotations = true, .below = true};

constexpr CostFunctionFacts kFunctions[] = {
    {"gemm", costs::gemm,
     "a b bias out scales b_layout a_transposed b_transposed a_packed b_packed out_type out_dtype "
     "spec",
     kNothingMore},
    {"grouped_gemm", costs::grouped_gemm, "a b out groups routes out_dtype", kNothingMore},
    {"convolution", costs::convolution,
     "input weight bias stride padding dilation transposed output_padding groups", kNothingMore},
    {"convolution_backward", costs::convolution_backward,
     "input weight bias stride padding dilation transposed output_padding groups output_mask",
     kNothingMore},
    {"attention", costs::attention,
     "q k v mask dropout causal causal_end layout flash sequences unknown_with", kNothingMore},
    {"attention_backward", costs::attention_backward,
     "q k v mask dropout causal causal_end layout flash sequences unknown_with", kNothingMore},
    {"inference_attention", costs::inference_attention,
     "q k v out cache_op cache phase window kv_heads_at dropout causal causal_end layout "
     "flash sequences unknown_with",
     kBoth},
    {"sparse_attention", costs::sparse_attention, "q kv indices width_v", kNothingMore},
    {"linear_attention", costs::linear_attention, "qkv beta decay out", kAnnotations},
    {"state_space", costs::state_space, "in weight bias heads chunk groups", kNothingMore},
    {"moe", costs::moe, "in w1 w2 out topk topk_count stage", kNothingMore},
    {"moe_layer", costs::moe_layer, "hidden logits", kBelow},
    {"elementwise", costs::elementwise,
     "in out reads sizes pad taps flops extra group out_type out_dtype out_bytes", kNothingMore},
    {"streams", costs::streams, "in out stored store per times base flops fraction unit",
     kNothingMore},
    {"reduce", costs::reduce, "in reads dims over kept flops extra out_type out_dtype",
     kNothingMore},
    {"normalization", costs::normalization,
     "in weight bias residual in2 weight2 out scale training running_mean channels shape "
     "statistics group pad_to quantizes out_bytes",
     kNothingMore},
    {"normalization_backward", costs::normalization_backward, "grad in weight shape channels",
     kNothingMore},
    {"pooling", costs::pooling, "in window stride padding extra", kNothingMore},
    {"gather", costs::gather, "in index dim shape", kNothingMore},
    {"index", costs::index, "in", kBelow},
    {"scatter", costs::scatter, "out index source adds copies_table rows", kNothingMore},
    {"concatenate", costs::concatenate, "in", kNothingMore},
    {"multi_tensor", costs::multi_tensor, "reads writes flops", kNothingMore},
    {"triton", costs::triton, "", kNothingMore},
    {"transfer", costs::transfer, "in out", kNothingMore},
};

}  // namespace

bool CostFunctionFacts::reads(std::string_view key) const {
  const std::vector<std::string_view> all = split(keys, ' ');
  return std::ranges::find(all, key) != all.end();
}

std::span<const CostFunctionFacts> cost_functions() { return kFunctions; }

const CostFunctionFacts* find_cost_function(std::string_view name) {
  const auto found = std::ranges::find(kFunctions, name, &CostFunctionFacts::name);
  return found == std::end(kFunctions) ? nullptr : found;
}

}  // namespace fathom
