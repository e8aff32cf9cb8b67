#include <cstdlib>
#include <cstring>
DEFINE_int32(batch, 8, "Rows in a batch");
ABSL_FLAG(std::string, mode, "fast", "How");

int main(int argc, char** argv) {
  CLI::App app;
  app.add_option("-n,--count", count, "How many");
  const char* level = std::getenv("BENCH_LEVEL");
  int width = env_or("BENCH_WIDTH", 4);
  if (std::strcmp(argv[1], "--help") == 0) return 0;
  if (argv[1][1] == 'b' && argv[1][2] == 's') return 1;
  print("--not-an-option", envelope("NOT_A_VARIABLE"));
}
