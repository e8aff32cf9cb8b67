#pragma once

#include "doctor/environment.h"
#include "doctor/machine.h"

namespace fathom {

// Ask NVML, the CUDA driver and CUPTI, each loaded in a child process of its own.
void ask_nvml(const Machine& machine, Environment& out);
void ask_cuda(const Machine& machine, Environment& out);
void ask_cupti(const Machine& machine, Environment& out);

// The GPUs in what NVML or CUDA answered: a line "gpu", then those about it.
std::vector<NvidiaGpu> gpus_of_answer(
    const std::vector<std::pair<std::string, std::string>>& lines);

}  // namespace fathom
