// Every input that fuzzing keeps, and every one that ever broke something, must be read without
// harm.
#include <gtest/gtest.h>

#include "targets.h"
#include "test_files.h"

namespace fathom::test {
namespace {

namespace fs = std::filesystem;

using Target = void (*)(const uint8_t*, size_t);

size_t replay(const char* name, Target target) {
  size_t inputs = 0;
  for (const char* kept : {"corpus", "crashes"}) {
    for (const auto& entry : fs::directory_iterator(source_dir() / "fuzz" / kept / name)) {
      SCOPED_TRACE(entry.path().filename().string());
      const std::string input = read_file(entry.path());
      target(reinterpret_cast<const uint8_t*>(input.data()), input.size());
      ++inputs;
    }
  }
  return inputs;
}

TEST(FuzzReplay, KinetoJson) { EXPECT_GT(replay("kineto_json", fuzz::kineto_json), 20u); }
TEST(FuzzReplay, StoreFile) { EXPECT_GT(replay("store_file", fuzz::store_file), 3u); }
TEST(FuzzReplay, CppSource) { EXPECT_GT(replay("cpp_source", fuzz::cpp_source), 5u); }
TEST(FuzzReplay, Compressed) { EXPECT_GT(replay("compressed", fuzz::compressed), 5u); }
TEST(FuzzReplay, PythonSource) { EXPECT_GT(replay("python_source", fuzz::python_source), 5u); }

TEST(FuzzReplay, EveryCppSeedCutAnywhere) {
  for (const auto& entry :
       fs::directory_iterator(source_dir() / "fuzz" / "corpus" / "cpp_source")) {
    const std::string input = read_file(entry.path());
    for (size_t size = 0; size < input.size(); ++size) {
      fuzz::cpp_source(reinterpret_cast<const uint8_t*>(input.data()), size);
    }
  }
}

// Each seed cut off at every byte: nothing may depend on the end being there.
TEST(FuzzReplay, EverySeedCutAnywhere) {
  for (const auto& entry :
       fs::directory_iterator(source_dir() / "fuzz" / "corpus" / "kineto_json")) {
    const std::string input = read_file(entry.path());
    if (input.size() > 3000) continue;
    for (size_t size = 0; size < input.size(); size += 1 + input.size() / 200) {
      fuzz::kineto_json(reinterpret_cast<const uint8_t*>(input.data()), size);
    }
  }
  for (const auto& entry :
       fs::directory_iterator(source_dir() / "fuzz" / "corpus" / "python_source")) {
    const std::string input = read_file(entry.path());
    for (size_t size = 0; size < input.size(); ++size) {
      fuzz::python_source(reinterpret_cast<const uint8_t*>(input.data()), size);
    }
  }
}

}  // namespace
}  // namespace fathom::test
