#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "scan/code_facts.h"

namespace fathom {

// What a kind of kernel must move and compute: a row of data/stories/kernel_models.tsv.
struct KernelModel {
  std::string_view id, title;
  std::vector<std::string_view> evidence, without, names;
  std::string_view flops, bytes_read, bytes_written;  // formulas of parameters
  int reads = 1;  // loads that wait for one another before the first result
};

struct ChosenModel {
  const KernelModel* model = nullptr;
  Certainty certainty = Certainty::kLikely;  // never certain: it is a conclusion from patterns
  std::string because;                       // the evidence or the name that chose it
  int tensors = 1;                           // arrays that the evidence shows
};

// None where no row fits: then nothing is expected of the kernel.
std::optional<ChosenModel> choose_model(const KernelFacts& kernel);

}  // namespace fathom
