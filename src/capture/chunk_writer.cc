#include "capture/chunk_writer.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/hash.h"

namespace fathom::capture {
namespace {

// A program may name each step; texts beyond this are forgotten and written again.
constexpr size_t kMostTexts = 1 << 19;
constexpr size_t kLongestText = 64 << 10;

}  // namespace

uint64_t chunk_hash(const ChunkHead& head, std::string_view payload) {
  const uint64_t fields = static_cast<uint64_t>(head.kind) << 48 |
                          static_cast<uint64_t>(head.record_size) << 32 | head.bytes;
  return mix_bits(mix_bits(hash_text(payload), fields), head.reserved);
}

size_t ChunkWriter::TextHash::operator()(std::string_view text) const { return hash_text(text); }

int FileSink::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd_, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return errno != 0 ? errno : EIO;
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  return 0;
}

bool ChunkWriter::begin() { return put_out({kMagic, sizeof kMagic}); }

bool ChunkWriter::put_out(std::string_view bytes) {
  failure_ = sink_.write(bytes);
  size_ += bytes.size();
  return failure_ == 0;
}

bool ChunkWriter::copy(ChunkKind kind, uint16_t record_size, std::string_view payload) {
  return put(kind, record_size, payload.data(), payload.size());
}

TextId ChunkWriter::text(std::string_view text) {
  if (text.empty()) return 0;
  text = text.substr(0, kLongestText);
  const auto known = texts_.find(text);
  if (known != texts_.end()) return known->second;
  if (texts_.size() >= kMostTexts) texts_.clear();
  const TextId id = next_++;
  texts_.emplace(text, id);
  const uint32_t length = static_cast<uint32_t>(text.size());
  new_texts_.append(reinterpret_cast<const char*>(&id), sizeof id);
  new_texts_.append(reinterpret_cast<const char*>(&length), sizeof length);
  new_texts_ += text;
  if (new_texts_.size() > (1u << 20)) put_texts();
  return id;
}

bool ChunkWriter::write_meta(std::string_view lines) {
  return put(ChunkKind::kMeta, 0, lines.data(), lines.size());
}

bool ChunkWriter::put_texts() {
  if (new_texts_.empty()) return failure_ == 0;
  std::string texts;
  texts.swap(new_texts_);
  return put(ChunkKind::kStrings, 0, texts.data(), texts.size());
}

bool ChunkWriter::put(ChunkKind kind, size_t record_size, const void* payload, size_t bytes) {
  if (kind != ChunkKind::kStrings && !put_texts()) return false;
  if (failure_ != 0) return false;
  if (bytes > kLargestChunk) return true;  // no text of ours is so long
  ChunkHead head;
  head.kind = kind;
  head.record_size = static_cast<uint16_t>(record_size);
  head.bytes = static_cast<uint32_t>(bytes);
  head.hash = chunk_hash(head, {static_cast<const char*>(payload), bytes});
  chunk_.assign(reinterpret_cast<const char*>(&head), sizeof head);
  chunk_.append(static_cast<const char*>(payload), bytes);
  return put_out(chunk_);
}

}  // namespace fathom::capture
