#pragma once

#include <string_view>
#include <vector>

#include "plan/plan_draft.h"

// What a plan is about: the kind of program, its features and kernels.
namespace fathom {

// Features that only GPU programs have.
bool is_gpu_feature(const FeatureFacts& feature);
bool has_gpu_packages(const CodeFacts& facts);
bool has_gpu_work(const CodeFacts& facts);
// `only`: of this kind alone, where the repository is of it; empty: the first that fits.
ProgramKind kind_of_program(const CodeFacts& facts, bool gpu, std::string_view only = {});
// What the goal names; where it names nothing in particular, what tells most of such a program.
void choose_features(PlanDraft& draft);
void choose_kernels(PlanDraft& draft);
// A main of C++ in a repository with kernels that neither holds nor reaches one: a benchmark of a
// data structure on the CPU. Goals that name kernels or counters want the GPU all the same.
bool runs_on_host(const PlanDraft& draft);
// The files whose log lines and functions may matter: the program's, those of the features and of
// the parts that run requests or steps.
std::vector<uint32_t> files_to_read(const PlanDraft& draft);

}  // namespace fathom
