#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/check.h"

// Files for readers that open them by name.
namespace fathom::fuzz {

// One for the process, emptied for each input.
inline const std::filesystem::path& empty_folder() {
  namespace fs = std::filesystem;
  static const fs::path folder = [] {
    std::string name = (fs::temp_directory_path() / "fathom-fuzz-XXXXXX").string();
    const char* made = mkdtemp(name.data());
    CHECK(made != nullptr);
    static const fs::path kept = made;
    std::atexit([] {
      std::error_code error;
      fs::remove_all(kept, error);
    });
    return kept;
  }();
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    fs::remove_all(entry.path(), error);
  return folder;
}

inline void write_whole(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

}  // namespace fathom::fuzz
