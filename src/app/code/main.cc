#include "app/code/code_commands.h"
#include "app/program.h"
#include "session/code/known_code.h"

// fathom-code: the whole program.
int main(int argc, char** argv) {
  return fathom::run_program(argc, argv, {fathom::add_code_commands, fathom::read_code});
}
