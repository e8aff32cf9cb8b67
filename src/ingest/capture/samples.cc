#include "ingest/capture/samples.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

#include "base/hash.h"
#include "ingest/capture/chunk_reader.h"

namespace fathom::capture {
namespace {

struct SampleKey {
  uint64_t cubin, pc;
  TextId function, mangled, reason, file;
  uint32_t line, device;

  bool operator==(const SampleKey&) const = default;
};
struct SampleKeyHash {
  size_t operator()(const SampleKey& key) const {
    return TableHash{}(key.cubin, key.pc, key.function, key.mangled, key.reason, key.file, key.line,
                       key.device);
  }
};

uint64_t sum_below_limit(uint64_t a, uint64_t b) {
  constexpr uint64_t kMost = uint64_t{1} << 40;  // more was never sampled
  return std::min(std::min(a, kMost) + std::min(b, kMost), kMost);
}

class SampleRows {
 public:
  void take(const Chunk& chunk) {
    if (chunk.kind == ChunkKind::kStrings) {
      for_each_text(chunk.payload, [this](uint32_t id, std::string_view text) {
        texts_.insert_or_assign(id, std::string(text));
      });
    } else if (chunk.kind == ChunkKind::kMeta) {
      for_each_fact(chunk.payload, [this](const std::vector<std::string_view>& fields) {
        if (fields[0] != "pc_sampling" || fields.size() < 4) return;
        const auto exponent = whole_number_in(fields[1]);
        if (exponent && *exponent > 0 && *exponent < 63)
          period_cycles_ = uint64_t{1} << static_cast<unsigned>(*exponent);
        const auto dropped = whole_number_in(fields[3]);
        // Each time the sum so far.
        if (dropped && *dropped > 0) dropped_ = sum_below_limit(0, static_cast<uint64_t>(*dropped));
      });
    } else if (chunk.kind == ChunkKind::kSamples) {
      for_each_record<Sample>(chunk, [this](const Sample& s) {
        uint64_t& samples =
            samples_[{s.cubin, s.pc, s.function, s.mangled, s.reason, s.file, s.line, s.device}];
        samples = sum_below_limit(samples, s.samples);
      });
    }
  }

  std::optional<StallSamples> finish() {
    if (samples_.empty()) return std::nullopt;
    StallSamples out;
    out.period_cycles = period_cycles_;
    out.dropped = dropped_;
    for (const auto& [key, samples] : samples_) {
      StallSample row;
      row.function = text(key.function, out);
      row.reason = text(key.reason, out);
      if (key.file != 0 && texts_.contains(key.file)) {
        row.file = text(key.file, out);
        row.line = key.line;
      }
      row.device = key.device;
      row.cubin = key.cubin;
      row.pc = key.pc;
      row.samples = samples;
      out.rows.push_back(row);
    }
    // The order of a hash table is nobody's. Texts are compared once: they may be long, and alike.
    std::vector<uint32_t> by_text(out.texts.size());
    std::iota(by_text.begin(), by_text.end(), 0u);
    std::ranges::sort(by_text, {}, [&out](uint32_t index) { return out.text(index); });
    std::vector<uint32_t> rank(by_text.size());
    for (uint32_t i = 0; i < by_text.size(); ++i) rank[by_text[i]] = i;
    std::ranges::sort(out.rows, {}, [&rank](const StallSample& row) {
      return std::tuple(row.device, rank[row.function], row.cubin, row.pc, rank[row.reason],
                        row.line, row.samples);
    });
    return out;
  }

 private:
  uint32_t text(TextId id, StallSamples& out) {
    const auto [found, is_new] = indices_.try_emplace(id, static_cast<uint32_t>(out.texts.size()));
    if (is_new) {
      const auto known = texts_.find(id);
      out.texts.push_back(known != texts_.end() ? known->second : "?");
    }
    return found->second;
  }

  std::unordered_map<TextId, std::string, TableHash> texts_;
  std::unordered_map<TextId, uint32_t, TableHash> indices_;
  std::unordered_map<SampleKey, uint64_t, SampleKeyHash> samples_;
  std::optional<uint64_t> period_cycles_;
  uint64_t dropped_ = 0;
};

}  // namespace

Result<std::optional<StallSamples>> read_samples(ByteSource& source, const std::string& shown) {
  ChunkReader chunks(source, int64_t{64} << 30);
  SampleRows rows;
  TRY(chunks.for_each(shown, [&rows](const Chunk& chunk) { rows.take(chunk); }));
  return rows.finish();
}

}  // namespace fathom::capture
