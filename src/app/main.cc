#include "app/program.h"

// fathom: all but the half that reads code.
int main(int argc, char** argv) { return fathom::run_program(argc, argv, {}); }
