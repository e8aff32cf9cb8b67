#include <chrono>
#include <cstdio>
#include <map>
#include <string>

int main() {
  std::map<std::string, int> tree;
  for (int i = 0; i < 100000; ++i) tree[std::to_string(i)] = i;
  std::printf("insert: %zu keys\n", tree.size());
  return 0;
}
