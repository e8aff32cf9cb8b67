#include "fleet/slurm_scripts.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/count_text.h"
#include "base/shell_text.h"

namespace fathom {
namespace {

constexpr int64_t kMostJobs = 1000;

std::string sbatch_lines(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += "#SBATCH " + line + "\n";
  return out;
}

// What the user asked for comes last, where it counts.
std::string head(const std::string& purpose, std::vector<std::string> lines,
                 const SlurmSettings& settings) {
  lines.insert(lines.end(), settings.options.begin(), settings.options.end());
  std::string out = fmt::format(
      "#!/bin/bash\n# {}\n# Written by fathom fleet plan; edit it as your site needs.\n{}\n",
      purpose, sbatch_lines(lines));
  for (const std::string& line : settings.set_up) out += line + "\n";
  return out;
}

std::string started(const SlurmSettings& settings) {
  return (settings.container.empty() ? "" : settings.container + " ") +
         shell_word(settings.program);
}

}  // namespace

int64_t fitting_traces_per_job(size_t traces) {
  return std::max<int64_t>(1, (static_cast<int64_t>(traces) + kMostJobs - 1) / kMostJobs);
}

std::string export_script(const Fleet& fleet, const SlurmSettings& settings) {
  const std::string each = fleet.traces_per_job == 1
                               ? std::string("a trace each")
                               : fmt::format("{} traces each", fleet.traces_per_job);
  const std::vector<std::string> lines = {
      "--job-name=fathom-export",
      fmt::format("--array=0-{}%{}", fleet.jobs() - 1, settings.at_once),
      "--cpus-per-task=2",
      "--mem=4G",
      "--time=01:00:00",
      "--requeue",  // a node that dies gives its task back
      "--open-mode=append",
      "--output=logs/slurm-%A-%a.log"};
  return head(fmt::format("Exports {} to tables, {}. A trace that is done is not done again.",
                          counted(static_cast<int64_t>(fleet.tasks.size()), "trace"), each),
              lines, settings) +
         fmt::format("exec {} fleet task {} --job \"$SLURM_ARRAY_TASK_ID\"\n", started(settings),
                     shell_word(fleet.directory.string()));
}

std::string report_script(const Fleet& fleet, const SlurmSettings& settings) {
  return head("Reads the tables of all traces together. The report lists what is missing.",
              {"--job-name=fathom-report", "--cpus-per-task=4", "--mem=8G", "--time=01:00:00",
               "--requeue", "--output=logs/slurm-report-%j.log"},
              settings) +
         fmt::format("exec {} fleet report {}\n", started(settings),
                     shell_word(fleet.directory.string()));
}

std::string submit_script(const Fleet& fleet) {
  return fmt::format(
      "#!/bin/bash\n# Submits the export of {} and, behind it, the report.\n"
      "# Submit again after a failure: finished tasks are not repeated.\nset -euo pipefail\n"
      "cd \"$(dirname \"$(readlink -f -- \"${{BASH_SOURCE[0]}}\")\")\"\n"
      "export_job=$(sbatch --parsable \"$@\" export.sbatch)\n"
      "report_job=$(sbatch --parsable \"$@\" --dependency=\"afterany:${{export_job%%;*}}\" "
      "report.sbatch)\n"
      "echo \"export: job ${{export_job%%;*}}, report: job ${{report_job%%;*}}; fathom fleet "
      "status $PWD\"\n",
      counted(static_cast<int64_t>(fleet.tasks.size()), "trace"));
}

}  // namespace fathom
