#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

struct isal_zstream;  // NOLINT(readability-identifier-naming): ISA-L's

namespace fathom {

// A ZIP archive written part after part, compressed by igzip. No clock: every part is of 1980.
class ZipWriter {
 public:
  static Result<ZipWriter> create(const std::filesystem::path& file);
  ZipWriter(ZipWriter&& other) noexcept;
  ZipWriter& operator=(ZipWriter&&) = delete;
  ~ZipWriter();

  Status begin(std::string name);
  Status write(std::string_view bytes);
  Status end();
  Status add(std::string name, std::string_view content);
  // Writes the directory of parts; without it the file is no archive.
  // The comment of the archive is at the very end of the file.
  Status close(std::string_view comment = {});

 private:
  struct Part {
    std::string name;
    uint64_t offset = 0, size = 0, packed = 0;
    uint32_t crc = 0;
  };

  ZipWriter(std::filesystem::path file, int fd);
  Status compress(std::string_view bytes, bool last);
  Status put(std::string_view bytes);
  Status flush();
  Error failed(int code) const;

  std::filesystem::path file_;
  int fd_;
  std::unique_ptr<isal_zstream> stream_;
  std::vector<uint8_t> out_;
  size_t pending_ = 0;  // bytes of out_ that are not in the file yet
  uint64_t written_ = 0;
  std::vector<Part> parts_;
};

}  // namespace fathom
