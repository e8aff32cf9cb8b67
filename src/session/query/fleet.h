#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "duck/database.h"
#include "fleet/fleet.h"
#include "fleet/fleet_report.h"
#include "fleet/slurm_scripts.h"
#include "fleet/task_state.h"

namespace fathom {

struct FleetPlanRequest {
  std::vector<std::string> traces;
  std::filesystem::path to;
  std::optional<SlurmSettings> slurm;
  int64_t traces_per_job = 0;  // 0: as many as fit
  bool force = false;
};
struct FleetPlanResult {
  Fleet fleet;
  std::vector<std::string> notes;
};
// Looks for the traces and writes the tasks, and the scripts where they are asked for. Tables of an
// earlier plan for the same place stay.
Result<FleetPlanResult> plan_fleet(const FleetPlanRequest& request);

struct FleetReportRequest {
  const DuckLibrary* library = nullptr;
  DuckLimits limits;
  std::filesystem::path against;  // another fleet; empty: none
  bool force = false;
};
struct FleetReportResult {
  FleetStatus status;
  std::vector<FleetAnswer> answers;
  std::vector<std::string> notes, damaged;  // damaged: files of tables that cannot be read
};
// Into report/ of the fleet: report.md, report.html, a table and a picture for each answer.
Result<FleetReportResult> report_fleet(const Fleet& fleet, const FleetReportRequest& request);

}  // namespace fathom
