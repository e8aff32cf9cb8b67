#include "events/store_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <future>
#include <type_traits>

#include "base/hash.h"
#include "base/mapped_file.h"
#include "events/store_check.h"

namespace fathom {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'F', 'A', 'T', 'H', 'O', 'M', 'C', '1'};
// To be raised when a reader fills the columns in another way: older files are then read anew.
constexpr uint64_t kVersion = 2;
constexpr size_t kBlock = 64;  // every piece begins on one, so that records can be used in place

struct Header {
  char magic[8];
  uint64_t layout;  // of the records below, as this program has them
  ContentStamp source;
  int64_t entries, input_bytes;
  uint64_t body_size, body_hash;
};
constexpr size_t kHeaderSize = 2 * kBlock;
static_assert(sizeof(Header) <= kHeaderSize);

uint64_t layout_hash() {
  const EventColumns columns;
  uint64_t hash = mix_bits(kVersion, static_cast<uint64_t>(Flaw::kCount));
  visit_columns(columns, columns, [&hash](const auto& column, const auto&) {
    hash = mix_bits(hash, sizeof(typename std::remove_cvref_t<decltype(column)>::value_type));
  });
  return hash;
}

// Over whole blocks; four chains, so that the multiplications overlap.
class BlockHash {
 public:
  void add(const char* block) {
    uint64_t words[8];
    std::memcpy(words, block, sizeof(words));
    for (int i = 0; i < 4; ++i) lanes_[i] = mix_bits(lanes_[i] ^ words[2 * i], words[2 * i + 1]);
  }
  uint64_t value() const {
    return mix_bits(mix_bits(lanes_[0], lanes_[1]), mix_bits(lanes_[2], lanes_[3]));
  }

 private:
  uint64_t lanes_[4] = {1, 2, 3, 4};
};

uint64_t hash_of(std::span<const std::byte> blocks) {
  BlockHash hash;
  for (size_t at = 0; at < blocks.size(); at += kBlock) {
    hash.add(reinterpret_cast<const char*>(blocks.data()) + at);
  }
  return hash.value();
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
    const size_t whole = size / kBlock * kBlock;
    for (size_t at = 0; at < whole; at += kBlock) hash_.add(bytes + at);
    put(bytes, whole);
    if (whole == size) return;
    char last[kBlock] = {};
    std::memcpy(last, bytes + whole, size - whole);
    hash_.add(last);
    put(last, kBlock);
  }
  void put(const char* bytes, size_t size) {
    ok_ = ok_ && (size == 0 || std::fwrite(bytes, 1, size, file_) == size);
    size_ += size;
  }

  std::FILE* file_;
  BlockHash hash_;
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

Status StoreFile::save(const EventStore& store, const ContentStamp& source, const fs::path& path) {
  const Error failed{fmt::format("cannot write {}", path.string())};
  const fs::path staging = fmt::format("{}.tmp-{}", path.string(), getpid());
  std::FILE* file = std::fopen(staging.c_str(), "wb");
  if (file == nullptr) return failed;
  char first[kHeaderSize] = {};
  bool ok = std::fwrite(first, kHeaderSize, 1, file) == 1;
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

  Header header = {{},          layout_hash(), source, store.entries_, store.input_bytes_,
                   body.size(), body.hash()};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  std::memcpy(first, &header, sizeof(header));
  ok = ok && body.ok() && std::fseek(file, 0, SEEK_SET) == 0 &&
       std::fwrite(first, kHeaderSize, 1, file) == 1;
  ok = std::fclose(file) == 0 && ok;
  std::error_code error;
  if (ok) fs::rename(staging, path, error);
  if (ok && !error) return Nothing{};
  fs::remove(staging, error);
  return failed;
}

std::optional<EventStore> StoreFile::load(const fs::path& path, const fs::path& source) {
  const auto mapped = MappedFile::open(path);
  if (!mapped.ok()) return {};
  const std::span<const std::byte> bytes = mapped.value()->bytes();
  Header header;
  if (bytes.size() < kHeaderSize) return {};
  std::memcpy(&header, bytes.data(), sizeof(header));
  const std::span<const std::byte> content = bytes.subspan(kHeaderSize);
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0 || header.layout != layout_hash() ||
      header.body_size != content.size() || content.size() % kBlock != 0) {
    return {};
  }
  const std::optional<ContentStamp> now = glance_at(source);
  if (!now) return {};
  if (!now->same_at_a_glance(header.source)) {
    const std::optional<ContentStamp> whole = stamp_of(source);
    if (!whole || !whole->same_content(header.source)) return {};
  }
  // Both read every byte, so they do it side by side; reading is safe whatever the hash will say.
  std::future<uint64_t> hash = std::async(std::launch::async, hash_of, content);
  std::optional<EventStore> store = read_body(content);
  if (hash.get() != header.body_hash || !store) return {};
  store->entries_ = header.entries;
  store->input_bytes_ = header.input_bytes;
  store->owner_ = mapped.value();
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
