#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "scan/facts/code_facts.h"

namespace fathom {

// How well something stands for what is to be measured, by data/plan/ranks.tsv.

// Of the words of a name: "flash_attention/check.cu" as "program".
double name_rank(std::string_view of, std::string_view name);

// Positions of kernels: product code before tests and helpers, otherwise in order. `drop`: without
// those where there are others.
void rank_kernels(const CodeFacts& facts, std::vector<uint32_t>& kernels, bool drop);

}  // namespace fathom
