#include "app/code/code_commands.h"

namespace fathom {

void add_code_commands(CLI::App& app, const Terminal& terminal, ExitCode& code) {
  add_scan_command(app, terminal, code);
  add_plan_command(app, terminal, code);
  add_run_command(app, terminal, code);
  add_ablate_command(app, terminal, code);
  add_bench_command(app, terminal, code);
}

}  // namespace fathom
