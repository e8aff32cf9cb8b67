#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace fathom {

// What a command prints, as a file of a largest size. The beginning goes to the file at once, the
// end is kept in memory until it is known: results stand in the last lines, the reason of a failure
// in the first ones.
class BoundedLog {
 public:
  Status open(const std::filesystem::path& path, uint64_t limit);
  void put(std::string_view bytes);
  // 0, or why something is missing from the file.
  int finish();
  uint64_t bytes() const { return total_; }     // that were put
  bool is_cut() const { return dropped_ > 0; }  // known after finish()

 private:
  void drop_begin();
  void write_out(std::string_view bytes);

  FileDescriptor file_;
  uint64_t head_left_ = 0, tail_limit_ = 0, total_ = 0, dropped_ = 0;
  int failure_ = 0;
  std::string tail_;
};

}  // namespace fathom
