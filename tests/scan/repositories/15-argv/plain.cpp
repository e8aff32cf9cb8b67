// A near-twin: dashes in a text that lists no options of this program.
#include <cstdio>
#include <cstring>

int main(int argc, char* argv[]) {
  int count = 2;
  if (argc > 1 && strcmp(argv[1], "-n") == 0) count = 3;
  puts("  -5 degrees");
  puts("- first");
  return count;
}
