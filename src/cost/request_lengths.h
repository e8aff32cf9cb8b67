#pragma once

#include <optional>
#include <string_view>

namespace fathom {

// Sums over the requests of one kind in a batch: new tokens (queries) and tokens attended to
// (keys).
struct RequestLengths {
  double requests = 0, queries = 0, keys = 0;
  double queries_squared = 0, queries_keys = 0;  // Σ sq², Σ sq·sk
};

// What an inference engine wrote of a batch into the name of an annotation around it.
struct BatchLengths {
  RequestLengths context, generation;
  bool even_lengths = false;  // a sum was missing, and requests are taken to be of one length
};

// vLLM:   execute_context_1(888_788544)_generation_0(0): requests, Σ sq, Σ sq·sk
//         execute_96_context_2(sq64sk80sqsq2080sqsk2600)_generation_3(sq3sk90sqsq3sqsk90)
// SGLang: step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 c_sqsq=25 c_sqsk=40 g_sq=1 g_sk=12 …]
// ATOM:   prefill[bs=2 tok=64 sqsq=2080 sqsk=2600 sk=80] and decode[…]
// Nothing for any other text, nor where keys are not told.
std::optional<BatchLengths> read_batch_lengths(std::string_view annotation);

}  // namespace fathom
