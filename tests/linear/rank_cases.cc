// Several ranks: many of them, many collectives, many process groups.
#include <fmt/format.h>

#include "linear_cases.h"
#include "linear_trace.h"
#include "test_files.h"

namespace fathom::test {
namespace {

void collective(TraceText& t, int64_t start, int64_t duration, size_t id, std::string_view group,
                std::string_view more = "") {
  t.kernel(
      "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", start, duration, id,
      fmt::format(R"(,"Collective name":"allreduce","In msg nelems":4096,"Out msg nelems":4096,)"
                  R"("Group size":2,"dtype":"BFloat16","Process Group Name":"{}"{})",
                  group, more));
}

void write_rank(const std::filesystem::path& directory, size_t rank, TraceText& t) {
  write_file(directory / "ranks" / fmt::format("rank{}.json", rank), t.finish());
}

// One group, without sequence numbers and steps: matched by order.
void collectives_in_order(const std::filesystem::path& directory, size_t n) {
  for (size_t rank = 0; rank < 3; ++rank) {
    TraceText t;
    for (size_t i = 0; i < n; ++i) {
      const int64_t at = 100 * i;
      t.unit(2 * i + 1, at, "aten::mm");
      collective(t, at + 20 + rank, 50, 2 * i + 2, "0");
    }
    write_rank(directory, rank, t);
  }
}

// A group for each, whose stretches before it begin with the recording.
void a_group_each(const std::filesystem::path& directory, size_t n) {
  for (size_t rank = 0; rank < 2; ++rank) {
    TraceText t;
    for (size_t i = 0; i < n; ++i) t.unit(i + 1, 20 * i, "aten::mm");
    for (size_t i = 0; i < n; ++i)
      collective(t, 20 * n + 10 * i, 5, n + i + 1, fmt::format("{}", i), R"(,"Seq":1)");
    write_rank(directory, rank, t);
  }
}

// All begin before the first ends.
void overlapping_collectives(const std::filesystem::path& directory, size_t n) {
  for (size_t rank = 0; rank < 2; ++rank) {
    TraceText t;
    for (size_t i = 0; i < n; ++i) {
      t.unit(2 * i + 1, 20 * i, "aten::mm");
      collective(t, 20 * i + 8, 40 * n, 2 * i + 2, "0", fmt::format(R"(,"Seq":{})", i));
    }
    write_rank(directory, rank, t);
  }
}

void many_ranks(const std::filesystem::path& directory, size_t n) {
  for (size_t rank = 0; rank < n; ++rank) {
    TraceText t;
    for (size_t i = 0; i < 4; ++i) {
      t.unit(2 * i + 1, 100 * i, "aten::mm");
      collective(t, 100 * i + 20, 50, 2 * i + 2, "0", fmt::format(R"(,"Seq":{})", i));
    }
    write_rank(directory, rank, t);
  }
}

}  // namespace

std::vector<LinearCase> rank_cases() {
  const std::string together = "analyze ranks --together --out out";
  return {
      {"CollectivesInOrder", collectives_in_order, together, 400},
      {"AGroupEach", a_group_each, together, 800},
      {"OverlappingCollectives", overlapping_collectives, together, 400},
      {"ManyRanks", many_ranks, together, 100},
  };
}

}  // namespace fathom::test
