#include "pairs.h"

namespace {
struct NamedPair {
  const char* name;
  void (*run)();
};
const NamedPair kPairs[] = {
    {"dram_precision", dram_precision},
    {"dependent_loads", dependent_loads},
    {"single_load", single_load},
    {"strided_loads", strided_loads},
    {"strided_stores", strided_stores},
    {"one_field", one_field},
    {"l2_passes", l2_passes},
    {"host_memory", host_memory},
    {"bank_column", bank_column},
    {"bank_stride", bank_stride},
    {"occupancy_registers", occupancy_registers},
    {"occupancy_shared", occupancy_shared},
    {"occupancy_block", occupancy_block},
    {"few_blocks", few_blocks},
    {"wave_tail", wave_tail},
    {"imbalance", imbalance},
    {"block_sync", block_sync},
    {"tensor_idle", tensor_idle},
    {"tensor_starved", tensor_starved},
    {"bit_loop", bit_loop},
    {"double_literal", double_literal},
    {"int_division", int_division},
    {"many_instructions", many_instructions},
    {"register_spills", register_spills},
    {"local_array", local_array},
    {"divergence", divergence},
    {"tiny_steps", tiny_steps},
};
}  // namespace

// faults [PAIR...]: all without arguments; "list" prints their names.
int main(int count, char** arguments) {
  for (const NamedPair& pair : kPairs) {
    bool is_asked = count == 1;
    for (int i = 1; i < count; ++i)
      is_asked = is_asked || std::strcmp(arguments[i], pair.name) == 0;
    if (count == 2 && std::strcmp(arguments[1], "list") == 0)
      std::puts(pair.name);
    else if (is_asked)
      pair.run();
  }
  return 0;
}
