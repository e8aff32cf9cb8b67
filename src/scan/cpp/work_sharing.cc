#include <algorithm>
#include <array>
#include <map>

#include "scan/cpp/code_structures.h"
#include "scan/cpp/token_pattern.h"
#include "scan/facts/pattern_ids.h"

namespace fathom::cpp {
namespace {

// What a step through the work is measured in.
enum class Step : uint8_t { kNone, kBlocks, kThreads };

bool counts_threads(std::string_view name) {
  return name == "blockDim" || name_holds(name, "thread") || name_holds(name, "warp") ||
         name_holds(name, "block_size") || name_holds(name, "blocksize") ||
         name_holds(name, "block_dim");
}

class GridSteps {
 public:
  GridSteps(const TokenRange& range, std::vector<StructureHit>& out) : range_(range), out_(out) {}

  void run() {
    const TokenList& source = range_.source;
    for (size_t i = range_.first; i + 1 < range_.last; ++i) {
      if (source.is_name(i) && source.is(i + 1, "=")) {
        keep_stride(i);
      } else if (source.is(i, "+=")) {
        report(i > range_.first ? i - 1 : i, i + 1);
      } else if (source.is(i, "+")) {
        next_tile(i);
      }
    }
  }

 private:
  Step step_of(size_t begin, size_t end) const {
    Step step = Step::kNone;
    bool threads = false;
    for (size_t i = begin; i < end; ++i) {
      if (range_.source.tokens[i].kind == TokenKind::kNumber) {
        threads = threads || (range_.source.at(i) != "0" && range_.source.at(i) != "1");
      }
      if (!range_.source.is_name(i)) continue;
      const std::string_view name = range_.source.at(i);
      const auto stride = strides_.find(name);
      if (name == "gridDim") step = std::max(step, Step::kBlocks);
      if (stride != strides_.end()) step = std::max(step, stride->second);
      threads = threads || counts_threads(name);
    }
    return step != Step::kNone && threads ? Step::kThreads : step;
  }

  // A variable that holds a product with the grid's size. A sum is a position, not a stride:
  // blockIdx.x + gridDim.x * blockIdx.y.
  void keep_stride(size_t name) {
    const size_t end = expression_end(range_, name + 2);
    bool grid = false;
    for (size_t i = name + 2; i < end; ++i) {
      const std::string_view token = range_.source.at(i);
      grid = grid || token == "gridDim";
      if (token == "+" || token == "-" || token == "/" || token == "blockIdx") return;
    }
    if (grid) strides_[range_.source.at(name)] = step_of(name + 2, end);
  }

  void report(size_t shown, size_t begin) {
    const size_t end = expression_end(range_, begin);
    const Step step = step_of(begin, end);
    // With blockIdx it is an offset that is added once.
    if (step == Step::kNone || names_block(begin, end)) return;
    const std::string text = short_source(range_.source, shown, end);
    if (step == Step::kBlocks) {
      out_.push_back({"block_stride", "blocks: " + text, begin, Certainty::kLikely, text});
    } else {
      out_.push_back({"grid_stride", text, begin, Certainty::kLikely});
    }
  }

  bool names_block(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      if (range_.source.is(i, "blockIdx")) return true;
    }
    return false;
  }

  // `tile + gridDim.x`, as a scheduler's next tile; gridDim with a factor is part of an index.
  void next_tile(size_t plus) {
    const TokenList& source = range_.source;
    size_t at = plus + 1;
    if (source.is_name(at) && source.is(at + 1, "(")) at += 2;
    if (!source.is(at, "gridDim") || source.is(at + 3, "*")) return;
    if (plus == range_.first || !source.is_name(plus - 1) || source.is(plus - 1, "x")) return;
    const size_t end = std::min(at + (at > plus + 1 ? 4 : 3), range_.last);
    if (source.is(end, "-")) return;  // (rows + gridDim.x - 1) / gridDim.x
    const std::string text = short_source(source, plus - 1, end);
    out_.push_back({"block_stride", "blocks: " + text, plus, Certainty::kLikely, text});
  }

  const TokenRange& range_;
  std::vector<StructureHit>& out_;
  std::map<std::string_view, Step> strides_;
};

// "is_producer", "consumer_warp"; a number of them is no role.
bool names_a_role(std::string_view name) {
  if (!name_holds(name, "producer") && !name_holds(name, "consumer")) return false;
  return !name_holds(name, "num") && !name_holds(name, "threads");
}

// One warp chosen for a single thread's work (warp_idx == 0) is no specialisation, a warpgroup is.
bool names_a_warpgroup(std::string_view name) {
  return name_holds(name, "warp_group") || name_holds(name, "warpgroup_i") ||
         name_holds(name, "warp_role") || name_holds(name, "warp_category") || name == "wg_idx" ||
         name == "wgid";
}

bool moves_registers(std::string_view name) {
  return name == "warpgroup_reg_alloc" || name == "warpgroup_reg_dealloc" || name == "setmaxnreg" ||
         name_holds(name, "setmaxnreg");
}

bool moves_registers_at(const TokenList& source, size_t at) {
  if (source.is_name(at)) return moves_registers(source.at(at));
  return source.tokens[at].kind == TokenKind::kString &&
         source.at(at).find("setmaxnreg") != std::string_view::npos;
}

// Whether the branch after a condition begins by taking or giving up registers.
bool branch_moves_registers(const TokenRange& range, size_t at) {
  constexpr size_t kNear = 40;
  const size_t end = std::min(range.last, at + kNear);
  while (at < end && !moves_registers_at(range.source, at)) ++at;
  return at < end;
}

void find_roles(const TokenRange& range, std::vector<StructureHit>& out) {
  const TokenList& source = range.source;
  bool roles = false;
  for (size_t i = range.first; i < range.last && !roles; ++i) {
    roles = moves_registers_at(source, i) || (source.is_name(i) && names_a_role(source.at(i)));
  }
  if (!roles) return;
  for (size_t i = range.first; i + 1 < range.last; ++i) {
    if (!source.is(i, "if") && !source.is(i, "switch")) continue;
    const size_t open = source.is(i + 1, "constexpr") ? i + 2 : i + 1;
    if (!source.is(open, "(")) continue;
    const auto close = closing_near(source, open);
    if (!close) continue;
    const bool certain = branch_moves_registers(range, *close);
    for (size_t k = open + 1; k < *close; ++k) {
      if (!source.is_name(k)) continue;
      const std::string_view name = source.at(k);
      const bool chooses =
          names_a_role(name) || names_a_warpgroup(name) || (certain && name_holds(name, "warp"));
      if (!chooses) continue;
      out.push_back({pattern_id::kWarpSpecialisation, short_source(source, i, *close + 1), i,
                     certain ? Certainty::kCertain : Certainty::kLikely});
      break;
    }
  }
}

// tile = atomicAdd(&counter, 1): blocks take the next piece of work when they are done with one.
void find_work_counters(const TokenRange& range, std::vector<StructureHit>& out) {
  const TokenList& source = range.source;
  for (size_t i = range.first + 2; i + 1 < range.last; ++i) {
    if (!source.is(i, "atomicAdd") && !source.is(i, "atomicInc")) continue;
    size_t equals = i - 1;  // over qualifiers and casts
    while (equals > range.first && !source.is(equals, "=") && !source.is(equals, ";") &&
           !source.is(equals, "{") && i - equals < 12) {
      --equals;
    }
    const auto close = source.is(i + 1, "(") ? closing_near(source, i + 1) : std::nullopt;
    if (!close || equals == range.first || !source.is(equals, "=")) continue;
    if (!source.is(*close - 1, "1") && !source.is(*close - 1, "1u") && !source.is(*close - 1, "1U"))
      continue;
    // smem.tile = …, tile[0] = …, *next_work = …
    bool work = false;
    for (size_t k = equals; k-- > range.first && equals - k < 8;) {
      if (source.is(k, ";") || source.is(k, "{") || source.is(k, "}")) break;
      if (!source.is_name(k)) continue;
      const std::string_view name = source.at(k);
      work = work || name_holds(name, "tile") || name_holds(name, "work") ||
             name_holds(name, "task") || name_holds(name, "job");
    }
    if (!work) continue;
    out.push_back(
        {"work_counter", short_source(source, equals - 1, *close + 1), i, Certainty::kLikely});
  }
}

}  // namespace

void find_work_sharing(const TokenRange& range, std::vector<StructureHit>& out) {
  GridSteps(range, out).run();
  find_work_counters(range, out);
  find_roles(range, out);
}

namespace {

struct HostCopy {
  std::string to, from;
  size_t token = 0;
};

bool is_collective(std::string_view name) {
  constexpr std::array<std::string_view, 9> names = {
      "ncclAllReduce", "ncclAllGather", "ncclReduceScatter", "ncclBroadcast", "ncclBcast",
      "ncclReduce",    "ncclAlltoAll",  "ncclSend",          "ncclRecv"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether the code runs from one token to a later one: not where an `else` lies between them.
bool runs_on(const TokenList& source, size_t from, size_t to) {
  int depth = 0, outermost = 0;
  for (size_t i = from; i < to; ++i) {
    if (source.is(i, "{")) ++depth;
    if (source.is(i, "}")) outermost = std::min(outermost, --depth);
    if (source.is(i, "else") && depth == outermost && depth < 0) return false;
  }
  return true;
}

}  // namespace

void find_collectives(const TokenRange& range, std::vector<StructureHit>& out) {
  const TokenList& source = range.source;
  std::vector<HostCopy> copies;
  for (size_t i = range.first; i < range.last; ++i) {
    if (!source.is(i, "cudaMemcpyAsync") && !source.is(i, "hipMemcpyAsync")) continue;
    if (!source.is(i + 1, "(")) continue;
    const auto arguments = arguments_of(source, i + 1);
    if (arguments.size() >= 2) copies.push_back({arguments[0], arguments[1], i});
  }
  for (size_t i = range.first; i < range.last; ++i) {
    if (!source.is_name(i) || !is_collective(source.at(i)) || !source.is(i + 1, "(")) continue;
    const auto arguments = arguments_of(source, i + 1);
    std::string text(source.at(i)), copied;
    const bool two_buffers = !text.ends_with("Send") && !text.ends_with("Recv");
    if (two_buffers && arguments.size() >= 2) {
      const bool in_place = arguments[0] == arguments[1];
      text += in_place ? " in place on " + arguments[0]
                       : " from " + arguments[0] + " to " + arguments[1];
      for (const HostCopy& copy : copies) {
        const std::string line = std::to_string(source.tokens[copy.token].line);
        if (copy.token < i && copy.to == arguments[0] && runs_on(source, copy.token, i)) {
          copied = copy.from;
          text += "; copied into it from " + copy.from + " (line " + line + ")";
        } else if (copy.token > i && copy.from == arguments[1] && runs_on(source, i, copy.token)) {
          text += "; copied out to " + copy.to + " (line " + line + ")";
        }
      }
    }
    out.push_back({"nccl", text, i, Certainty::kCertain, copied});
  }
}

}  // namespace fathom::cpp
