#include "ingest/capture/chunk_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "capture/chunk_writer.h"

namespace fathom::capture {
namespace {

constexpr size_t kPiece = 64 << 10;

}  // namespace

bool is_capture(std::string_view head) {
  return head.starts_with(std::string_view(kMagic, sizeof kMagic));
}

bool is_capture_file(const std::string& path) {
  const Result<std::unique_ptr<ByteSource>> source = open_source(path);
  if (!source.ok()) return false;
  char head[sizeof kMagic] = {};
  const Result<size_t> got = source.value()->read(head);
  return got.ok() && is_capture({head, got.value()});
}

std::optional<int64_t> whole_number_in(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

void for_each_fact(std::string_view bytes,
                   const std::function<void(const std::vector<std::string_view>&)>& visit) {
  const std::string valid = with_valid_utf8(bytes);
  std::string_view payload = valid;
  while (!payload.empty()) {
    const size_t end = payload.find('\n');
    std::string_view line = payload.substr(0, end);
    payload.remove_prefix(end == std::string_view::npos ? payload.size() : end + 1);
    std::vector<std::string_view> fields;
    for (size_t tab = 0; tab != std::string_view::npos; line.remove_prefix(tab + 1)) {
      tab = line.find('\t');
      fields.push_back(line.substr(0, tab));
      if (tab == std::string_view::npos) break;
    }
    visit(fields);
  }
}

void for_each_gpu(std::string_view payload,
                  const std::function<void(const GpuProperties&)>& visit) {
  for_each_fact(payload, [&visit](const std::vector<std::string_view>& fields) {
    if (fields[0] != "gpu" || fields.size() < 7) return;
    GpuProperties gpu;
    gpu.id = whole_number_in(fields[1]).value_or(0);
    gpu.name = fields[2];
    gpu.multiprocessors = whole_number_in(fields[3]);
    gpu.memory_bytes = whole_number_in(fields[4]);
    gpu.compute_major = whole_number_in(fields[5]);
    gpu.compute_minor = whole_number_in(fields[6]);
    visit(gpu);
  });
}

Result<bool> ChunkReader::have(size_t bytes) {
  while (window_.size() - at_ < bytes && !ended_) {
    if (at_ > kPiece) {
      window_.erase(0, at_);
      at_ = 0;
    }
    const size_t wanted =
        static_cast<size_t>(std::min<int64_t>(static_cast<int64_t>(kPiece), left_));
    if (wanted == 0) {
      char more = 0;
      if (TRY(source_.read({&more, 1})) > 0) diagnostics_.add(Flaw::kSizeLimit);
      ended_ = true;
      break;
    }
    const size_t old = window_.size();
    window_.resize(old + wanted);
    const size_t got = TRY(source_.read({window_.data() + old, wanted}));
    window_.resize(old + got);
    read_ += static_cast<int64_t>(got);
    left_ -= static_cast<int64_t>(got);
    if (got < wanted) ended_ = true;
  }
  return window_.size() - at_ >= bytes;
}

Status ChunkReader::for_each(const std::string& shown,
                             const std::function<void(const Chunk&)>& visit) {
  if (!begins_well()) return Error{fmt::format("{} is not a capture of fathom record", shown)};
  while (true) {
    const Result<std::optional<Chunk>> chunk = next();
    if (!chunk.ok()) return Error{fmt::format("cannot read {}: {}", shown, chunk.error().message)};
    if (!chunk.value()) return Nothing{};
    visit(*chunk.value());
  }
}

bool ChunkReader::begins_well() {
  const Result<bool> enough = have(sizeof kMagic);
  if (!enough.ok() || !enough.value() || !is_capture(std::string_view(window_).substr(at_))) {
    return false;
  }
  at_ += sizeof kMagic;
  return true;
}

void ChunkReader::skip_damaged(size_t bytes) {
  if (!in_damage_) diagnostics_.add(Flaw::kDamagedPart);
  in_damage_ = true;
  at_ += bytes;
}

bool ChunkReader::may_examine(size_t bytes) {
  examined_ += static_cast<int64_t>(bytes);
  return examined_ <= 8 * read_ + kLargestChunk;
}

Result<std::optional<Chunk>> ChunkReader::next() {
  while (true) {
    if (!TRY(have(sizeof(ChunkHead)))) {
      if (window_.size() > at_ || source_.truncated()) diagnostics_.add(Flaw::kTruncated);
      at_ = window_.size();
      return std::optional<Chunk>{};
    }
    ChunkHead head;
    std::memcpy(&head, window_.data() + at_, sizeof head);
    if (head.mark != kChunkMark || head.bytes > kLargestChunk) {
      // On to where a mark may begin.
      const char first = static_cast<char>(kChunkMark & 0xff);
      const size_t next = window_.find(first, at_ + 1);
      skip_damaged((next == std::string::npos ? window_.size() : next) - at_);
      continue;
    }
    if (!TRY(have(sizeof head + head.bytes))) {
      // Cut, or a damaged length: what follows may hold whole chunks yet.
      if (!may_examine(window_.size() - at_) ||
          window_.find("fchk", at_ + 1) == std::string::npos) {
        diagnostics_.add(Flaw::kTruncated);
        at_ = window_.size();
        return std::optional<Chunk>{};
      }
      skip_damaged(1);
      continue;
    }
    const std::string_view payload(window_.data() + at_ + sizeof head, head.bytes);
    if (!may_examine(head.bytes)) {
      diagnostics_.add(Flaw::kTruncated);
      at_ = window_.size();
      ended_ = true;
      return std::optional<Chunk>{};
    }
    if (chunk_hash(head, payload) != head.hash) {
      skip_damaged(1);
      continue;
    }
    in_damage_ = false;
    Chunk chunk{head.kind, head.record_size, std::string(payload)};
    at_ += sizeof head + head.bytes;
    return std::optional<Chunk>(std::move(chunk));
  }
}

}  // namespace fathom::capture
