// Enumerators of kernels' names in a file that sees no kernel.
enum class Operation { nobody, scale };
Operation operation_of(bool wide) {
  using enum Operation;
  return wide ? nobody : scale;
}
