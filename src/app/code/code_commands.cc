#include "app/code/code_commands.h"

#include "app/commands.h"
#include "app/serve/serve_command.h"

namespace fathom {

void add_code_commands(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  add_convert_command(app, terminal, code);
  add_timeline_command(app, terminal, code);
  add_scan_command(app, terminal, code);
  add_plan_command(app, terminal, code);
  add_run_command(app, terminal, code);
  add_ablate_command(app, terminal, code);
  add_bench_command(app, terminal, code);
  add_serve_command(app, terminal, code);
  add_export_command(app, terminal, code);
  add_query_command(app, terminal, code);
  add_fleet_command(app, terminal, code);
}

}  // namespace fathom
