#pragma once

#include <string>
#include <vector>

#include "analyze/pipeline.h"
#include "measure/kernel_measures.h"
#include "report/trace/summary.h"
#include "session/trace.h"

namespace fathom {

// "8 × AMD Instinct MI300X"; different GPUs are listed.
std::string gpu_names(const std::vector<GpuProperties>& gpus);
// Of those whose work is selected; of all where their numbers are not known.
std::string used_gpu_names(const SheetInput& input);

// A scope that holds nothing is a mistake in the asking.
Status check_scope(const SheetInput& input, const std::string& path);

// What a report says first. `code`: null where no repository was given.
Summary summarize(const Trace& trace, const Assessment& assessment,
                  const std::vector<Finding>& findings, const CodeCoverage* code);
// Of the trace itself alone, without its ops.
Summary summarize(const Trace& trace, const SheetInput& input);

}  // namespace fathom
