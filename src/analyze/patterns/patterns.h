#pragma once

#include <vector>

#include "analyze/finding.h"
#include "analyze/patterns/pattern_input.h"

// Work that should not be there, or not like this. Each is a function of the assessed trace;
// patterns.cc is the only list of them. A pattern needs evidence beside names: sizes that fit,
// types, repetition, or the calls around.
namespace fathom::patterns {

// Products of FP32 operands on the vector units.
std::vector<Finding> wide_products(const PatternInput& in);
std::vector<Finding> double_precision(const PatternInput& in);
// Casts that are undone soon after, or repeated for the same weights.
std::vector<Finding> casts(const PatternInput& in);
// Large tensors that are cast to FP32 for a softmax or norm.
std::vector<Finding> widened_sums(const PatternInput& in);
// scaled_dot_product_attention that runs as separate kernels.
std::vector<Finding> attention_math(const PatternInput& in);
// Keys and values that are copied once for each query head.
std::vector<Finding> repeated_keys(const PatternInput& in);
// Copies that only change the order of the elements in memory.
std::vector<Finding> layout_copies(const PatternInput& in);
// A cache that is copied to append to it.
std::vector<Finding> growing_cache(const PatternInput& in);
// Gradients that are zeroed and added to, in place of being dropped.
std::vector<Finding> zeroed_gradients(const PatternInput& in);
// Memory that is filled and then overwritten.
std::vector<Finding> overwritten_fills(const PatternInput& in);
// A product with a matrix of zeros and ones in place of a lookup.
std::vector<Finding> one_hot_products(const PatternInput& in);
// A sort of which only the first few are used.
std::vector<Finding> full_sorts(const PatternInput& in);
// Tables and masks that are made again with the same arguments.
std::vector<Finding> repeated_tables(const PatternInput& in);
// Indices and masks that each layer computes from the same integers.
std::vector<Finding> computed_again(const PatternInput& in);
// Layers that a loop applies again to an input that it does not change.
std::vector<Finding> unchanged_inputs(const PatternInput& in);
// Gradients of parameters that no optimizer updates.
std::vector<Finding> unused_gradients(const PatternInput& in);
// Calls of backward() that run through the same forward ops.
std::vector<Finding> repeated_backward(const PatternInput& in);
// Softmax and running sums over a dimension that is not the last.
std::vector<Finding> strided_reductions(const PatternInput& in);
// A matrix that is inverted to be multiplied with a few columns.
std::vector<Finding> explicit_inverses(const PatternInput& in);
// Weights that each call computes from their parts, or packs, again.
std::vector<Finding> repeated_weights(const PatternInput& in);
// A product of whose result a few rows are read.
std::vector<Finding> discarded_rows(const PatternInput& in);
// Rows of padding, or of room that stays empty, that are computed and cut off.
std::vector<Finding> cut_rows(const PatternInput& in);
// Ops of the program's own that take far longer than their operands do.
std::vector<Finding> slow_own_ops(const PatternInput& in);
// Kernels of the program's own with one warp in a block and all registers in use.
std::vector<Finding> starved_blocks(const PatternInput& in);
// Kernels of very many short blocks.
std::vector<Finding> tiny_blocks(const PatternInput& in);
// Keys and values that are copied as a whole to reorder them.
std::vector<Finding> moved_cache(const PatternInput& in);
// One mask of queries by keys for all sequences and heads, as a causal one would be.
std::vector<Finding> full_masks(const PatternInput& in);
// Operands that are cast from 16 to 32 bits for a product.
std::vector<Finding> widened_products(const PatternInput& in);
// A sequence that is computed from its beginning for each new token.
std::vector<Finding> recomputed_prefixes(const PatternInput& in);
// Rows that are sorted so that they are added in a fixed order.
std::vector<Finding> sorted_additions(const PatternInput& in);
// Images that are copied into padded ones before convolutions.
std::vector<Finding> padding_copies(const PatternInput& in);
// A chain of products that another order computes with a third of the multiplications.
std::vector<Finding> product_order(const PatternInput& in);
// A linear layer on rows of which each row of the source has many.
std::vector<Finding> gathered_products(const PatternInput& in);
// A tensor that is repeated in memory for an op that could broadcast it.
std::vector<Finding> repeated_copies(const PatternInput& in);
// Rows that are gathered by one index and added by another.
std::vector<Finding> scattered_messages(const PatternInput& in);
// A tensor far larger than what it is made of, which is only reduced again.
std::vector<Finding> large_intermediates(const PatternInput& in);
// A matrix for each row, gathered from a few for a batched product.
std::vector<Finding> gathered_operands(const PatternInput& in);
// A layer that mixes the channels of each pixel, after an interpolation.
std::vector<Finding> enlarged_pixels(const PatternInput& in);
// A batched product with one matrix for all samples.
std::vector<Finding> shared_operands(const PatternInput& in);
// A model that runs once more without gradients.
std::vector<Finding> forward_again(const PatternInput& in);
// Token ids that are repeated before a model instead of its results after it.
std::vector<Finding> repeated_rows(const PatternInput& in);
// Products in the program's own backward() that are no gradient of anything.
std::vector<Finding> custom_gradients(const PatternInput& in);
// Ops that PyTorch runs without the vendor's library.
std::vector<Finding> fallback_ops(const PatternInput& in);
// Ops that are expensive, serial or avoidable by their nature.
std::vector<Finding> expensive_ops(const PatternInput& in);
// Kernels of the program against the tensors that their function allocates.
std::vector<Finding> slow_own_kernels(const PatternInput& in);
// Dropout, or statistics of a batch norm, in a program that computes no gradients.
std::vector<Finding> training_mode(const PatternInput& in);
// Ops that record a graph of gradients in a program that computes none.
std::vector<Finding> gradient_mode(const PatternInput& in);
// A table of which a few rows are read gets a gradient, and an update, of all rows.
std::vector<Finding> dense_gradients(const PatternInput& in);
// Parameters that are updated one by one.
std::vector<Finding> looped_optimizer(const PatternInput& in);
// Products of one shape in a loop.
std::vector<Finding> looped_products(const PatternInput& in);
// Sizes that the matrix units cannot read in whole vectors.
std::vector<Finding> odd_sizes(const PatternInput& in);
// Long kernels with fewer blocks than the GPU has units.
std::vector<Finding> few_blocks(const PatternInput& in);
// Atomic additions at a small part of the bandwidth.
std::vector<Finding> contended_atomics(const PatternInput& in);
// Copies between host and GPU: from pageable memory, the same bytes in each step, never overlapped.
std::vector<Finding> host_copies(const PatternInput& in);

}  // namespace fathom::patterns
