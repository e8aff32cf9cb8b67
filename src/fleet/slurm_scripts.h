#pragma once

#include <string>
#include <vector>

#include "fleet/fleet.h"

namespace fathom {

// What a cluster wants said in its scripts.
struct SlurmSettings {
  std::string program;               // how a node starts fathom
  std::vector<std::string> options;  // for sbatch: "--partition=gpu"
  std::vector<std::string> set_up;   // lines before the command: "module load gcc"
  std::string container;             // before the program: "apptainer exec fathom.sif"
  int64_t at_once = 64;              // tasks of the array
};

// A job array: one task exports `traces_per_job` traces.
std::string export_script(const Fleet& fleet, const SlurmSettings& settings);
// What runs after all of them, whether they succeeded or not.
std::string report_script(const Fleet& fleet, const SlurmSettings& settings);
// Submits the one, then the other behind it.
std::string submit_script(const Fleet& fleet);

// So many traces for one task that an array stays within Slurm's usual limit of 1,001.
int64_t fitting_traces_per_job(size_t traces);

}  // namespace fathom
