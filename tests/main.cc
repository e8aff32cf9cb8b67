#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

#include "test_files.h"

// Ends with the one line that says it all.
int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--accept") == 0) fathom::test::accept_goldens = true;
  }
  const int code = RUN_ALL_TESTS();
  const auto& all = *::testing::UnitTest::GetInstance();
  std::printf("%d passed, %d failed, %d skipped\n", all.successful_test_count(),
              all.failed_test_count(), all.skipped_test_count());
  return code;
}
