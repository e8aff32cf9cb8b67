#include "app/code/code_commands.h"
#include "app/mcp/mcp_command.h"
#include "app/program.h"
#include "session/code/known_code.h"

namespace {

void add_commands(CLI::App& app, const fathom::Terminal& terminal, fathom::ExitCode& code) {
  fathom::add_code_commands(app, terminal, code);
  fathom::add_mcp_commands(app, terminal, code);
}

}  // namespace

// fathom-code: the whole program.
int main(int argc, char** argv) {
  return fathom::run_program(
      argc, argv,
      {add_commands, fathom::add_docs_commands, fathom::read_code, fathom::run_together});
}
