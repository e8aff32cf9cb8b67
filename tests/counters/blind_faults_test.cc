#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "checks.h"
#include "counters/recorded_contexts.h"
#include "test_files.h"

namespace fathom::test {
namespace {

// Kernels by somebody who had not seen the rules (tests/gpu/blind).
struct Cause {
  std::string_view words;  // of truth.tsv
  std::vector<std::string_view> ids;
};
const std::vector<Cause>& causes() {
  static const std::vector<Cause> all = {
      {"uncoalesced access", {"uncoalesced"}},
      {"shared-memory bank conflicts", {"bank_conflicts"}},
      {"DRAM-bandwidth-bound", {"dram_bandwidth"}},
      {"L2 thrashing", {"l2_thrashing"}},
      {"latency-bound", {"memory_latency"}},
      {"load imbalance over SMs", {"load_imbalance"}},
      {"tail", {"wave_tail"}},
      {"wave quantisation", {"wave_tail"}},
      {"low occupancy by registers", {"occupancy_registers"}},
      {"low occupancy by shared memory", {"occupancy_shared"}},
      {"low occupancy by block size", {"occupancy_block"}},
      {"producer/consumer or barrier wait", {"barrier_wait"}},
      {"tensor cores idle or starved", {"tensor_idle", "tensor_starved"}},
      {"issue-limited", {"issue_limited"}},
      {"instruction mix (integer)", {"mix_integer"}},
      {"instruction mix (conversions, FP64)", {"mix_conversion", "mix_fp64"}},
      {"instruction mix (special functions)", {"mix_special"}},
      {"register spills", {"spills"}},
      {"launch- or host-bound", {"host_bound"}},
      {"PCIe-bound", {"pcie", "copies"}},
      {"none", {}},
  };
  return all;
}

std::vector<std::string_view> ids_of(std::string_view words) {
  std::vector<std::string_view> out;
  while (!words.empty()) {
    const size_t end = std::min(words.find(" | "), words.size());
    const auto cause = std::ranges::find(causes(), words.substr(0, end), &Cause::words);
    EXPECT_NE(cause, causes().end()) << words;
    if (cause != causes().end()) out.insert(out.end(), cause->ids.begin(), cause->ids.end());
    words.remove_prefix(std::min(end + 3, words.size()));
  }
  return out;
}

// The longest kernel that the case is about.
KernelContext blind_kernel(std::string_view name, std::string_view variant) {
  const auto path = source_dir() / "tests/gpu/blind/recorded" /
                    (std::string(name) + "-" + std::string(variant) + ".capture");
  for (KernelContext& kernel : contexts_of_file(path.string()).kernels) {
    if (kernel.name.find("prepare_") == std::string::npos) return std::move(kernel);
  }
  ADD_FAILURE() << path;
  return {};
}

TEST(BlindFaults, ExpectedCausesAreConfirmedFirstAndTwinsAreClean) {
  const std::filesystem::path folder = source_dir() / "tests/gpu/blind";
  std::map<std::string, double> gains;
  const std::string results = read_file(folder / "results.tsv");
  for (const auto& row : read_tsv(results, 11)) {
    const double faulty = std::strtod(std::string(row[1]).c_str(), nullptr);
    const double fixed = std::strtod(std::string(row[2]).c_str(), nullptr);
    if (faulty > 0 && fixed > 0) gains[std::string(row[0])] = faulty / fixed;
  }
  size_t pairs = 0, hits = 0, wrong = 0, first = 0, in_range = 0, unlisted = 0;
  std::string table;
  const std::string truth = read_file(folder / "truth.tsv");
  for (const auto& row : read_tsv(truth, 4)) {
    const std::string name(row[0]);
    const bool is_clean = row[1] == "none";
    const std::vector<std::string_view> expected = ids_of(row[1]);
    const auto is_in = [](const auto& list, std::string_view id) {
      return std::ranges::find(list, id) != std::ranges::end(list);
    };
    std::string of_fault, verdict = "-";
    if (!is_clean) {
      ++pairs;
      const KernelContext fault = blind_kernel(name, "faulty");
      const std::vector<std::string> confirmed = confirmed_of(fault);
      bool is_hit = false, is_in_range = false;
      for (const std::string& id : confirmed) {
        const TestedHypothesis& tested = tested_of(fault, id);
        of_fault += (of_fault.empty() ? "" : ", ") + id + " " + gain_text(tested);
        if (!is_in(expected, id)) continue;
        is_hit = true;
        is_in_range |= tested.best && gains[name] >= *tested.least_gain() &&
                       gains[name] <= *tested.most_gain();
      }
      const bool is_first = is_hit && is_in(expected, confirmed[0]);
      hits += is_hit;
      first += is_first;
      wrong += !is_hit && !confirmed.empty();
      in_range += is_in_range;
      verdict = is_first ? "first" : is_hit ? "hit" : confirmed.empty() ? "miss" : "wrong";
      verdict += is_in_range ? ", in" : is_hit ? ", out" : "";
    }
    const KernelContext twin = blind_kernel(name, "fixed");
    // Not in truth.tsv and true: more loads in flight gain what is predicted (about.md there). The
    // last two are of the same form and not measured.
    static constexpr std::string_view kWait[] = {
        "gelu", "nearest_code", "particles", "relabel", "permute_axes", "fir", "mapped_table"};
    const std::vector<std::string_view> allowed = ids_of(row[2]);
    std::string of_twin;
    for (const std::string& id : confirmed_of(twin)) {
      of_twin += (of_twin.empty() ? "" : ", ") + id;
      if (is_in(allowed, id)) continue;
      ++unlisted;
      of_twin += " (not listed)";
      EXPECT_TRUE(is_in(kWait, name) && id == "memory_latency") << name << ": " << id;
    }
    table += "| " + name + " | " + std::string(row[1]) + " | " + of_fault + " | " + verdict +
             " | " + (is_clean ? "" : std::to_string(gains[name]).substr(0, 5)) + " | " + of_twin +
             " |\n";
  }
  EXPECT_EQ(pairs, 29u);
  EXPECT_GE(hits, 28u);
  EXPECT_EQ(wrong, 0u);
  EXPECT_GE(first, 27u);
  EXPECT_GE(in_range, 22u);
  EXPECT_LE(unlisted, 7u);
  if (const char* path = std::getenv("FATHOM_BLIND_TABLE"))
    std::ofstream(path) << table << hits << " " << wrong << " " << first << " " << in_range << " "
                        << unlisted << "\n";
}

// Only the time of each block shows that the longest start last; no counter has it.
TEST(BlindFaults, WhatNoCounterShowsIsUntested) {
  const KernelContext kernel = blind_kernel("causal_order", "faulty");
  EXPECT_TRUE(confirmed_of(kernel).empty());
  EXPECT_EQ(tested_of(kernel, "block_order").verdict, Verdict::kUntested);
  EXPECT_EQ(tested_of(kernel, "block_order").missing,
            std::vector<std::string_view>{"block_spread"});
  EXPECT_EQ(tested_of(blind_kernel("energy_sum", "faulty"), "atomics").command,
            "fathom record --counters=memory --replay -- PROGRAM");
}

// A second set, recorded after the rules were changed by the first (tests/gpu/blind2): 20 of 25
// were confirmed then; three rules were changed after it.
TEST(BlindFaults, CausesOfTheSecondSet) {
  const std::filesystem::path folder = source_dir() / "tests/gpu/blind2";
  std::vector<KernelContext> kernels;
  for (const auto& file : std::filesystem::directory_iterator(folder / "recorded")) {
    for (KernelContext& kernel : contexts_of_file(file.path().string()).kernels)
      kernels.push_back(std::move(kernel));
  }
  size_t faults = 0, hits = 0, first = 0, unlisted = 0;
  std::string table;
  const std::string accepted = read_file(folder / "accepted.tsv");
  for (const auto& row : read_tsv(accepted, 2)) {
    const std::vector<std::string> may = listed(row[1]);
    const auto is_accepted = [&may](const std::string& id) {
      return std::ranges::find(may, id) != may.end();
    };
    const bool is_fault = row[0].ends_with("_a");
    const KernelContext* longest = nullptr;
    for (const KernelContext& kernel : kernels) {
      const bool is_it = kernel.name.find("::" + std::string(row[0])) != std::string::npos;
      if (is_it && (longest == nullptr || longest->time < kernel.time)) longest = &kernel;
    }
    ASSERT_NE(longest, nullptr) << row[0];
    const std::vector<std::string> confirmed = confirmed_of(*longest);
    const bool is_hit = std::ranges::any_of(confirmed, is_accepted);
    if (is_fault) {
      ++faults;
      if (is_hit) ++hits;
      if (!confirmed.empty() && is_accepted(confirmed.front())) ++first;
    } else if (!std::ranges::all_of(confirmed, is_accepted)) {
      ++unlisted;
    }
    table += fmt::format("{}\t{}\t{}\n", row[0], fmt::join(confirmed, ", "), row[1]);
  }
  EXPECT_EQ(faults, 25u);
  EXPECT_GE(hits, 23u) << table;
  EXPECT_GE(first, 23u) << table;
  EXPECT_LE(unlisted, 3u) << table;
}

}  // namespace
}  // namespace fathom::test
