// Flash attention forward: O = softmax(scale · Q Kᵀ) V for each batch entry and head, as a C
// interface on raw device pointers and a stream, so that it can be called through ctypes.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum FathomElementType { FATHOM_FLOAT16 = 0, FATHOM_BFLOAT16 = 1 };

// In elements; the elements of a row lie side by side. (B,H,S,D) and (B,S,H,D) differ only here.
// Rows have to start at addresses that 16 bytes divide.
struct FathomTensorStrides {
  int64_t batch, head, row;
};

struct FathomAttention {
  const void *q, *k, *v;
  void* o;
  struct FathomTensorStrides q_strides, k_strides, v_strides, o_strides;
  int32_t batch, query_heads, key_heads;  // query_heads is a multiple of key_heads (GQA)
  int32_t query_length, key_length;       // any, also 0; a query without keys gives zeros
  int32_t head_dim;                       // 64 or 128
  int32_t element_type;                   // FathomElementType
  int32_t causal;                         // query i sees keys 0 … i, as in PyTorch's is_causal
  float scale;
  int32_t version;  // 0 … 10: a rung of the ladder; -1: the last one
  void* stream;     // cudaStream_t
  // 8 bytes of device memory that were zero before the first call and are zero again after each:
  // with them tiles go to whichever block is free. Two calls that may run at the same time need
  // two. May be null.
  void* workspace;
};

// 0, or a cudaError_t. Returns as soon as the kernel is in the stream.
int fathom_flash_attention_forward(const struct FathomAttention* attention);
const char* fathom_flash_attention_error(int error);

#ifdef __cplusplus
}
#endif
