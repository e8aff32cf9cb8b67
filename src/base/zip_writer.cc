#include "base/zip_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

namespace fathom {
namespace {

constexpr size_t kBufferSize = size_t{256} << 10;
constexpr uint64_t kMaxSize = std::numeric_limits<uint32_t>::max();
constexpr size_t kMaxParts = std::numeric_limits<uint16_t>::max();
constexpr uint16_t kVersion = 20, kDeflate = 8;
constexpr uint32_t kFirstOf1980 = 0x00210000;
constexpr uint64_t kSizesOffset = 14;  // of crc and sizes in a part's header

void append_number(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

}  // namespace

ZipWriter::ZipWriter(std::filesystem::path file, int fd)
    : file_(std::move(file)),
      fd_(fd),
      stream_(std::make_unique<isal_zstream>()),
      out_(kBufferSize) {
  isal_deflate_init(stream_.get());  // at level 0: see Deflater
}

ZipWriter::ZipWriter(ZipWriter&& other) noexcept
    : file_(std::move(other.file_)),
      fd_(std::exchange(other.fd_, -1)),
      stream_(std::move(other.stream_)),
      out_(std::move(other.out_)),
      pending_(other.pending_),
      written_(other.written_),
      parts_(std::move(other.parts_)) {}

ZipWriter::~ZipWriter() {
  if (fd_ >= 0) ::close(fd_);
}

Error ZipWriter::failed(int code) const {
  return Error{fmt::format("cannot write {}: {}", file_.string(), std::strerror(code))};
}

Result<ZipWriter> ZipWriter::create(const std::filesystem::path& file) {
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  const int code = errno;
  ZipWriter zip(file, fd);
  if (fd < 0) return zip.failed(code);
  return zip;
}

Status ZipWriter::flush() {
  size_t done = 0;
  while (done < pending_) {
    const ssize_t n = ::write(fd_, out_.data() + done, pending_ - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed(errno);
    done += static_cast<size_t>(n);
  }
  written_ += pending_;
  pending_ = 0;
  return Nothing{};
}

Status ZipWriter::put(std::string_view bytes) {
  while (!bytes.empty()) {
    if (pending_ == out_.size()) TRY(flush());
    const size_t n = std::min(bytes.size(), out_.size() - pending_);
    std::memcpy(out_.data() + pending_, bytes.data(), n);
    pending_ += n;
    bytes.remove_prefix(n);
  }
  return Nothing{};
}

Status ZipWriter::begin(std::string name) {
  Part part;
  part.name = std::move(name);
  part.offset = written_ + pending_;
  std::string header = "PK\3\4";
  append_number(header, kVersion, 2);
  append_number(header, 0, 2);
  append_number(header, kDeflate, 2);
  append_number(header, kFirstOf1980, 4);
  header.append(12, '\0');  // crc and sizes, which end() fills in
  append_number(header, part.name.size(), 2);
  append_number(header, 0, 2);
  parts_.push_back(std::move(part));
  isal_deflate_reset(stream_.get());
  stream_->end_of_stream = 0;
  return put(header + parts_.back().name);
}

Status ZipWriter::compress(std::string_view bytes, bool last) {
  Part& part = parts_.back();
  const auto* in = reinterpret_cast<const uint8_t*>(bytes.data());
  part.crc = crc32_gzip_refl(part.crc, in, bytes.size());
  part.size += bytes.size();
  stream_->next_in = const_cast<uint8_t*>(in);
  stream_->avail_in = static_cast<uint32_t>(bytes.size());
  stream_->end_of_stream = last;
  do {
    if (pending_ == out_.size()) TRY(flush());
    const size_t room = out_.size() - pending_;
    stream_->next_out = out_.data() + pending_;
    stream_->avail_out = static_cast<uint32_t>(room);
    CHECK(isal_deflate(stream_.get()) == COMP_OK);
    const size_t made = room - stream_->avail_out;
    pending_ += made;
    part.packed += made;
  } while (stream_->avail_out == 0 || (last && stream_->internal_state.state != ZSTATE_END));
  return Nothing{};
}

Status ZipWriter::write(std::string_view bytes) {
  while (bytes.size() > kBufferSize) {  // igzip counts its input in 32 bits
    TRY(compress(bytes.substr(0, kBufferSize), false));
    bytes.remove_prefix(kBufferSize);
  }
  return compress(bytes, false);
}

Status ZipWriter::end() {
  TRY(compress({}, true));
  TRY(flush());
  const Part& part = parts_.back();
  // The older ZIP format holds no more, and not every spreadsheet program reads the newer one.
  if (part.size > kMaxSize || written_ > kMaxSize || parts_.size() > kMaxParts) {
    return Error{fmt::format("cannot write {}: more than 4 GB, which a ZIP file cannot hold",
                             file_.string())};
  }
  std::string sizes;
  append_number(sizes, part.crc, 4);
  append_number(sizes, part.packed, 4);
  append_number(sizes, part.size, 4);
  const auto at = static_cast<off_t>(part.offset + kSizesOffset);
  ssize_t n = 0;
  do {
    n = pwrite(fd_, sizes.data(), sizes.size(), at);
  } while (n < 0 && errno == EINTR);
  if (n != static_cast<ssize_t>(sizes.size())) return failed(n < 0 ? errno : EIO);
  return Nothing{};
}

Status ZipWriter::add(std::string name, std::string_view content) {
  TRY(begin(std::move(name)));
  TRY(write(content));
  return end();
}

Status ZipWriter::close(std::string_view comment) {
  std::string directory;
  for (const Part& part : parts_) {
    directory += "PK\1\2";
    append_number(directory, kVersion, 2);
    append_number(directory, kVersion, 2);
    append_number(directory, 0, 2);
    append_number(directory, kDeflate, 2);
    append_number(directory, kFirstOf1980, 4);
    append_number(directory, part.crc, 4);
    append_number(directory, part.packed, 4);
    append_number(directory, part.size, 4);
    append_number(directory, part.name.size(), 2);
    directory.append(12, '\0');  // no extra field, no comment, disk 0, no attributes
    append_number(directory, part.offset, 4);
    directory += part.name;
  }
  const size_t directory_size = directory.size();
  directory += "PK\5\6";
  append_number(directory, 0, 4);  // disk 0
  append_number(directory, parts_.size(), 2);
  append_number(directory, parts_.size(), 2);
  append_number(directory, directory_size, 4);
  append_number(directory, written_, 4);
  append_number(directory, comment.size(), 2);
  directory += comment;
  TRY(put(directory));
  TRY(flush());
  // A full disk may speak up only when the file is closed.
  if (::close(std::exchange(fd_, -1)) != 0) return failed(errno);
  return Nothing{};
}

}  // namespace fathom
