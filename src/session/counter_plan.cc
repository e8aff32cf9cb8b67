#include "session/counter_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/byte_source.h"
#include "base/hash.h"
#include "base/tsv.h"
#include "ingest/capture/chunk_reader.h"

extern const std::string_view counter_sets_tsv;

namespace fathom {
namespace {

constexpr double kShare = 0.9;
constexpr size_t kMostKeys = 20;
constexpr std::string_view kSampling = "sampling";  // a set that is no set of --counters

bool waits_for_others(std::string_view name) {
  for (const std::string_view part :
       {"nccl", "nvshmem", "all_reduce", "allreduce", "AllReduce", "all_gather", "allgather",
        "reduce_scatter", "all_to_all", "alltoall", "multimem", "barrier"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

struct SetRow {
  std::string_view set, metric;
};
std::vector<SetRow> set_rows() {
  std::vector<SetRow> rows;
  std::string_view rest = counter_sets_tsv;
  bool header = true;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    const size_t tab = line.find('\t');
    if (line.starts_with('#') || tab == std::string_view::npos) continue;
    if (!header) rows.push_back({line.substr(0, tab), line.substr(tab + 1)});
    header = false;
  }
  return rows;
}

}  // namespace

std::vector<std::string> counter_set_names() {
  std::vector<std::string> names;
  for (const SetRow& row : set_rows()) {
    if (row.set != kSampling && (names.empty() || names.back() != row.set))
      names.emplace_back(row.set);
  }
  names.emplace_back("full");
  return names;
}

std::optional<std::vector<std::string>> counter_metrics(std::string_view set) {
  const std::vector<std::string> names = counter_set_names();
  if (std::ranges::find(names, set) == names.end()) return std::nullopt;
  std::vector<std::string> metrics;
  for (const SetRow& row : set_rows()) {
    if (row.set == kSampling) continue;
    if (set == "full" || row.set == "basic" || row.set == set) metrics.emplace_back(row.metric);
  }
  return metrics;
}

std::vector<std::string> sampled_metrics() {
  std::vector<std::string> metrics;
  for (const SetRow& row : set_rows()) {
    if (row.set == kSampling) metrics.emplace_back(row.metric);
  }
  return metrics;
}

std::string launch_key(std::string_view name, const capture::Kernel& k) {
  return fmt::format("{}\t{},{},{}\t{},{},{}\t{}", name, k.grid[0], k.grid[1], k.grid[2],
                     k.block[0], k.block[1], k.block[2], k.dynamic_shared);
}

Status for_each_kernel(const std::filesystem::path& path,
                       const std::function<void(std::string_view, const capture::Kernel&)>& visit) {
  const std::unique_ptr<ByteSource> source = TRY(open_source(path.string()));
  capture::ChunkReader chunks(*source, int64_t{64} << 30);
  if (!chunks.begins_well()) return Nothing{};  // the program ended before there was anything
  std::unordered_map<uint32_t, std::string, TableHash> texts;
  while (const std::optional<capture::Chunk> chunk = TRY(chunks.next())) {
    if (chunk->kind == capture::ChunkKind::kStrings) {
      capture::for_each_text(chunk->payload, [&texts](uint32_t id, std::string_view text) {
        texts.insert_or_assign(id, std::string(text));
      });
    } else if (chunk->kind == capture::ChunkKind::kKernels) {
      capture::for_each_record<capture::Kernel>(*chunk, [&](const capture::Kernel& kernel) {
        const auto name = texts.find(kernel.mangled != 0 ? kernel.mangled : kernel.name);
        visit(name != texts.end() ? std::string_view(name->second) : std::string_view(), kernel);
      });
    }
  }
  return Nothing{};
}

Result<KernelsToCount> choose_kernels(const std::filesystem::path& path) {
  KernelsToCount out;
  std::unordered_map<std::string, int64_t, TableHash, std::equal_to<>> times;
  TRY(for_each_kernel(path, [&](std::string_view name, const capture::Kernel& kernel) {
    if (kernel.end < kernel.start) return;
    const auto time = static_cast<int64_t>(kernel.end - kernel.start);
    out.total.count += time;
    // What a graph launches is not seen one by one.
    if (name.empty() || kernel.graph_node != 0 || waits_for_others(name)) return;
    times[launch_key(name, kernel)] += time;
  }));
  std::vector<std::pair<int64_t, std::string>> ranked;
  for (auto& [key, time] : times) ranked.emplace_back(-time, key);
  std::ranges::sort(ranked);
  for (const auto& [negative, key] : ranked) {
    if (out.keys.size() >= kMostKeys ||
        static_cast<double>(out.chosen.count) >= kShare * static_cast<double>(out.total.count)) {
      break;
    }
    out.keys.push_back(key);
    out.chosen.count -= negative;
  }
  return out;
}

}  // namespace fathom
