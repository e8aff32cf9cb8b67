#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "doctor/environment.h"
#include "plan/plan.h"
#include "platform/platform.h"
#include "scan/facts/code_facts.h"

namespace fathom {

// What a plan is made from. The same input gives the same plan.
struct PlanInput {
  std::string goal;
  std::string repository;      // as plan.toml names it
  std::filesystem::path root;  // where it is
  const CodeFacts* facts = nullptr;
  const Environment* machine = nullptr;
  const Platform* platform = nullptr;   // given or detected; null: the goal's, or unknown
  std::string command;                  // empty: chosen from the repository
  std::vector<std::string> parameters;  // NAME=VALUE, as of `fathom scan --param`
  std::optional<double> budget;         // s
};

Result<Plan> make_plan(const PlanInput& input);

}  // namespace fathom
