#include "events/store_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include "base/directory_entries.h"
#include "base/hash.h"
#include "base/mapped_file.h"
#include "base/staging.h"
#include "base/threads.h"
#include "events/store_check.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'F', 'A', 'T', 'H', 'O', 'M', 'C', '4'};
constexpr size_t kFamily = 7;  // bytes of the magic that every version has
constexpr size_t kBlock = 64;  // every piece begins on one, so that records can be used in place

struct Header {
  char magic[8];
  uint64_t layout;   // of the records below, as this program has them
  uint64_t program;  // that read the trace: another one may read it in another way
  ContentStamp source;
  int64_t entries, input_bytes;
  uint64_t body_size, body_hash;
  char unused[2 * kBlock - 10 * sizeof(uint64_t)];
  uint64_t hash;  // of all before it
};
constexpr size_t kHeaderSize = 2 * kBlock;
static_assert(sizeof(Header) == kHeaderSize && std::is_trivially_copyable_v<Header>);

uint64_t header_hash(const Header& header) {
  return hash_content({reinterpret_cast<const char*>(&header), offsetof(Header, hash)});
}

uint64_t layout_hash() {
  const EventColumns columns;
  uint64_t hash = static_cast<uint64_t>(Flaw::kCount);
  visit_columns(columns, columns, [&hash](const auto& column, const auto&) {
    hash = mix_bits(hash, sizeof(typename std::remove_cvref_t<decltype(column)>::value_type));
  });
  return hash;
}

// Writes pieces as they are, without a copy of the whole.
class BodyWriter {
 public:
  explicit BodyWriter(std::FILE* file) : file_(file) {}

  template <typename T>
  void add(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    const uint64_t count = items.size();
    append(reinterpret_cast<const char*>(&count), sizeof(count));
    append(reinterpret_cast<const char*>(items.data()), items.size_bytes());
  }
  void add_text(std::string_view text) { add(std::span<const char>(text)); }
  template <typename T>
  void add_one(const T& item) {
    add(std::span<const T>(&item, 1));
  }
  void add_optional(std::optional<int64_t> value) {
    add_one(std::array<int64_t, 2>{value.has_value(), value.value_or(0)});
  }
  uint64_t size() const { return size_; }
  uint64_t hash() const { return hash_.value(); }
  bool ok() const { return ok_; }

 private:
  void append(const char* bytes, size_t size) {
    constexpr char kZeros[kBlock] = {};
    put(bytes, size);
    if (size % kBlock != 0) put(kZeros, kBlock - size % kBlock);
  }
  void put(const char* bytes, size_t size) {
    hash_.add(std::string_view(bytes, size));
    ok_ = ok_ && (size == 0 || std::fwrite(bytes, 1, size, file_) == size);
    size_ += size;
  }

  std::FILE* file_;
  ContentHash hash_;
  uint64_t size_ = 0;
  bool ok_ = true;
};

class BodyReader {
 public:
  explicit BodyReader(std::span<const std::byte> body) : body_(body) {}

  template <typename T>
  std::span<const T> get() {
    uint64_t count = 0;
    if (!has(sizeof(count))) return {};
    std::memcpy(&count, body_.data() + at_, sizeof(count));
    at_ += kBlock;
    if (count > body_.size() / sizeof(T) || !has(count * sizeof(T))) return {};
    const auto* items = reinterpret_cast<const T*>(body_.data() + at_);
    at_ = (at_ + count * sizeof(T) + kBlock - 1) / kBlock * kBlock;
    return {items, count};
  }
  std::string_view get_text() {
    const auto text = get<char>();
    return {text.data(), text.size()};
  }
  template <typename T>
  T get_one() {
    const auto one = get<T>();
    return one.empty() ? T{} : one.front();
  }
  std::optional<int64_t> get_optional() {
    const auto [has_value, value] = get_one<std::array<int64_t, 2>>();
    return has_value != 0 ? std::optional(value) : std::nullopt;
  }
  bool ok() const { return ok_; }

 private:
  bool has(size_t bytes) { return ok_ = ok_ && at_ <= body_.size() && bytes <= body_.size() - at_; }

  std::span<const std::byte> body_;
  size_t at_ = 0;
  bool ok_ = true;
};

// The fields of the metadata and the diagnostics, in one order for both ways.
void write_facts(BodyWriter& out, const TraceMetadata& m, const Diagnostics& diagnostics) {
  out.add_one<uint64_t>(m.gpus.size());
  for (const GpuProperties& gpu : m.gpus) {
    out.add_text(gpu.name);
    out.add_one(gpu.id);
    for (const auto& field :
         {gpu.multiprocessors, gpu.memory_bytes, gpu.compute_major, gpu.compute_minor}) {
      out.add_optional(field);
    }
  }
  for (const auto& field : {m.rank, m.world_size, m.cuda_runtime_version, m.hip_runtime_version}) {
    out.add_optional(field);
  }
  out.add_optional(m.base_time ? std::optional(m.base_time->count) : std::nullopt);
  out.add_text(m.distributed_backend);
  out.add_text(m.trace_name);
  out.add_text(m.source);
  const std::vector<Diagnostic> all = diagnostics.all();
  out.add_one<uint64_t>(all.size());
  for (const Diagnostic& d : all) {
    out.add_one(d.flaw);
    out.add_one(d.count);
    out.add_text(d.example);
  }
}

// Far more than any trace has, far less than what could overflow a sum.
constexpr int64_t kMostFlaws = int64_t{1} << 48;

bool read_facts(BodyReader& in, TraceMetadata& m, Diagnostics& diagnostics) {
  for (auto gpus = in.get_one<uint64_t>(); gpus > 0 && in.ok(); --gpus) {
    GpuProperties gpu;
    gpu.name = in.get_text();
    gpu.id = in.get_one<int64_t>();
    for (auto* field :
         {&gpu.multiprocessors, &gpu.memory_bytes, &gpu.compute_major, &gpu.compute_minor}) {
      *field = in.get_optional();
    }
    m.gpus.push_back(std::move(gpu));
  }
  for (auto* field : {&m.rank, &m.world_size, &m.cuda_runtime_version, &m.hip_runtime_version})
    *field = in.get_optional();
  if (const auto base_time = in.get_optional()) m.base_time = Nanos{*base_time};
  m.distributed_backend = in.get_text();
  m.trace_name = in.get_text();
  m.source = in.get_text();
  const auto flaws = in.get_one<uint64_t>();
  if (flaws > static_cast<uint64_t>(Flaw::kCount)) return false;
  for (uint64_t i = 0; i < flaws; ++i) {
    const auto flaw = in.get_one<Flaw>();
    const auto count = in.get_one<int64_t>();
    if (flaw >= Flaw::kCount || count < 1 || count > kMostFlaws) return false;
    diagnostics.add(flaw, in.get_text(), count);
  }
  return in.ok();
}

}  // namespace

namespace {

// Whether a cache may go there: where nothing is, or in place of one of ours.
bool may_replace(const fs::path& path) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return errno == ENOENT;
  const FileDescriptor file = open_regular_file(AT_FDCWD, path.c_str());
  char magic[kFamily] = {};
  return file.ok() && pread(file.get(), magic, kFamily, 0) == static_cast<ssize_t>(kFamily) &&
         std::memcmp(magic, kMagic, kFamily) == 0;
}

// One that others could write is not trusted.
bool is_own_file(int fd) {
  struct stat status = {};
  return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
         (status.st_uid == geteuid() || status.st_uid == 0) && (status.st_mode & S_IWOTH) == 0;
}

}  // namespace

Status StoreFile::write(const EventStore& store, const Origin& origin, std::FILE* file) {
  Header header = {};
  bool ok = std::fwrite(&header, kHeaderSize, 1, file) == 1;
  BodyWriter body(file);
  visit_columns(store.views_, store.views_,
                [&body](const auto& view, const auto&) { body.add(view); });
  std::vector<uint64_t> ends;
  std::string texts;
  for (std::string_view text : store.texts_) {
    texts += text;
    ends.push_back(texts.size());
  }
  body.add(std::span<const uint64_t>(ends));
  body.add_text(texts);
  write_facts(body, store.metadata_, store.diagnostics_);

  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  header.layout = layout_hash();
  header.program = origin.program;
  header.source = origin.source;
  header.entries = store.entries_;
  header.input_bytes = store.input_bytes_;
  header.body_size = body.size();
  header.body_hash = body.hash();
  header.hash = header_hash(header);
  ok = ok && body.ok() && std::fseek(file, 0, SEEK_SET) == 0 &&
       std::fwrite(&header, kHeaderSize, 1, file) == 1 && std::fflush(file) == 0;
  if (ok) return Nothing{};
  return Error{std::strerror(errno)};
}

Status StoreFile::save(const EventStore& store, const Origin& origin, const fs::path& path) {
  const auto failed = [&](std::string_view why) {
    return Error{fmt::format("cannot keep the trace in {}: {}", path.string(), why)};
  };
  if (!may_replace(path)) return failed("it exists and is not a Fathom cache");
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const StagingDirectory staging = TRY(StagingDirectory::create(folder, folder));
  const fs::path staged = staging.content() / "cache";
  std::FILE* file = std::fopen(staged.c_str(), "wbxe");
  if (file == nullptr) return failed(std::strerror(errno));
  Status written = write(store, origin, file);
  if (std::fclose(file) != 0 && written.ok()) written = Error{std::strerror(errno)};
  if (!written.ok()) return failed(written.error().message);
  if (!may_replace(path)) return failed("it exists and is not a Fathom cache");
  if (std::rename(staged.c_str(), path.c_str()) != 0) return failed(std::strerror(errno));
  return Nothing{};
}

std::optional<EventStore> StoreFile::load(const fs::path& path, const fs::path& source,
                                          uint64_t program) {
  const FileDescriptor file = open_regular_file(AT_FDCWD, path.c_str());
  if (!file.ok() || !is_own_file(file.get())) return {};
  const auto mapped = MappedFile::map(file.get());
  if (!mapped) return {};
  const std::span<const std::byte> bytes = mapped->bytes();
  Header header;
  if (bytes.size() < kHeaderSize) return {};
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::span<const std::byte> content = bytes.subspan(kHeaderSize);
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 ||
      header.hash != header_hash(header) || header.layout != layout_hash() ||
      header.program != program || header.body_size != content.size() ||
      content.size() % kBlock != 0) {
    return {};
  }
  // Another size tells without reading; times and inodes tell nothing for sure.
  std::error_code error;
  if (fs::file_size(source, error) != header.source.size || error) return {};
  // All read every byte, so they do it side by side; reading is safe whatever the hashes will be.
  std::future<bool> same_source =
      start_beside([&] { return stamp_of(source) == std::optional(header.source); });
  std::future<uint64_t> hash = start_beside([&] {
    ContentHash of_body;
    of_body.add(content);
    return of_body.value();
  });
  std::optional<EventStore> store = read_body(content);
  const bool same_body = hash.get() == header.body_hash;
  const bool same = same_source.get() && same_body;
  if (!same || !store) return {};
  store->entries_ = header.entries;
  store->input_bytes_ = header.input_bytes;
  store->owner_ = mapped;
  return store;
}

std::optional<EventStore> StoreFile::read_body(std::span<const std::byte> bytes) {
  EventStore store;
  BodyReader body(bytes);
  visit_columns(store.views_, store.views_, [&body](auto& view, auto&) {
    view = body.get<typename std::remove_cvref_t<decltype(view)>::value_type>();
  });
  const std::span<const uint64_t> ends = body.get<uint64_t>();
  const std::string_view texts = body.get_text();
  uint64_t begin = 0;
  store.texts_.reserve(ends.size());
  for (uint64_t end : ends) {
    if (end < begin || end > texts.size()) return {};
    store.texts_.push_back(texts.substr(begin, end - begin));
    begin = end;
  }
  if (!read_facts(body, store.metadata_, store.diagnostics_)) return {};
  if (!are_sound(store.views_, store.texts_.size())) return {};
  return store;
}

}  // namespace fathom
