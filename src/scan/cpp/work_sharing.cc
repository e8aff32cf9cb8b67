#include <algorithm>
#include <map>

#include "base/text_parts.h"
#include "scan/cpp/code_structures.h"
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
  GridSteps(const NodeRange& nodes, std::vector<StructureHit>& out)
      : nodes_(nodes), source_(nodes.source), out_(out) {}

  void run() {
    for (const uint32_t id : nodes_.order) {
      const CodeNode& node = nodes_[id];
      if (node.kind == CodeKind::kDeclarator && !node.children.empty()) {
        keep_stride(node.text, nodes_[node.children[0]]);
      } else if (node.kind == CodeKind::kAssign && node.children.size() == 2) {
        const CodeNode &left = nodes_[node.children[0]], &right = nodes_[node.children[1]];
        if (node.text == "=" && source_.is_name(left.last - 1))
          keep_stride(source_.at(left.last - 1), right);
        if (node.text == "+=") report(left.last - 1, right);
      } else if (node.kind == CodeKind::kBinary && node.children.size() == 2) {
        // (rows + gridDim.x - 1) / gridDim.x
        if (node.text == "-") rounded_up_ = node.children[0];
        if (node.text == "+" && id != rounded_up_) next_tile(node);
      }
    }
  }

 private:
  Step step_of(const CodeNode& value) const {
    Step step = Step::kNone;
    bool threads = false;
    for (size_t i = value.first; i < value.last; ++i) {
      if (source_.tokens[i].kind == TokenKind::kNumber)
        threads = threads || (source_.at(i) != "0" && source_.at(i) != "1");
      if (!source_.is_name(i)) continue;
      const std::string_view name = source_.at(i);
      const auto stride = strides_.find(name);
      if (name == "gridDim") step = std::max(step, Step::kBlocks);
      if (stride != strides_.end()) step = std::max(step, stride->second);
      threads = threads || counts_threads(name);
    }
    return step != Step::kNone && threads ? Step::kThreads : step;
  }

  // A variable that holds a product with the grid's size. A sum is a position, not a stride:
  // blockIdx.x + gridDim.x * blockIdx.y.
  void keep_stride(std::string_view name, const CodeNode& value) {
    bool grid = false;
    for (size_t i = value.first; i < value.last; ++i) {
      const std::string_view token = source_.at(i);
      grid = grid || token == "gridDim";
      if (token == "+" || token == "-" || token == "/" || token == "blockIdx") return;
    }
    if (grid) strides_[name] = step_of(value);
  }

  void report(size_t shown, const CodeNode& by) {
    const Step step = step_of(by);
    // With blockIdx it is an offset that is added once.
    if (step == Step::kNone || names_block(by)) return;
    const std::string text = short_source(source_, shown, by.last);
    if (step == Step::kBlocks) {
      out_.push_back({"block_stride", "blocks: " + text, by.first, Certainty::kLikely, text});
    } else {
      out_.push_back({"grid_stride", text, by.first, Certainty::kLikely});
    }
  }

  bool names_block(const CodeNode& value) const {
    for (size_t i = value.first; i < value.last; ++i) {
      if (source_.is(i, "blockIdx")) return true;
    }
    return false;
  }

  // gridDim.x, int(gridDim.x)
  bool is_grid_size(const CodeNode& node) const {
    if (node.kind == CodeKind::kCast) return is_grid_size(nodes_[node.children[0]]);
    if (node.kind == CodeKind::kCall)
      return node.children.size() == 2 && is_grid_size(nodes_[node.children[1]]);
    return node.kind == CodeKind::kMember && nodes_[node.children[0]].text == "gridDim";
  }

  // `tile + gridDim.x`, as a scheduler's next tile; gridDim with a factor is part of an index.
  void next_tile(const CodeNode& sum) {
    const CodeNode &left = nodes_[sum.children[0]], &right = nodes_[sum.children[1]];
    const size_t name = left.last - 1;
    if (!is_grid_size(right) || !source_.is_name(name) || source_.is(name, "x")) return;
    const std::string text = short_source(source_, name, right.last);
    out_.push_back({"block_stride", "blocks: " + text, name, Certainty::kLikely, text});
  }

  const NodeRange& nodes_;
  const TokenList& source_;
  std::vector<StructureHit>& out_;
  std::map<std::string_view, Step> strides_;
  uint32_t rounded_up_ = 0;
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

bool moves_registers_at(const TokenList& source, size_t at) {
  if (source.is_name(at)) {
    const std::string_view name = source.at(at);
    return name == "warpgroup_reg_alloc" || name == "warpgroup_reg_dealloc" ||
           name_holds(name, "setmaxnreg");
  }
  return source.tokens[at].kind == TokenKind::kString && holds(source.at(at), "setmaxnreg");
}

class Roles {
 public:
  Roles(const NodeRange& nodes, std::vector<StructureHit>& out)
      : nodes_(nodes), source_(nodes.source), out_(out) {}

  void run() {
    for (const uint32_t id : nodes_.order) {
      const CodeNode& node = nodes_[id];
      const bool chooses = node.kind == CodeKind::kIf || node.kind == CodeKind::kSwitch;
      if (chooses && !node.children.empty()) choice(node, nodes_[node.children[0]]);
    }
  }

 private:
  void choice(const CodeNode& node, const CodeNode& condition) {
    const bool certain = moves_registers(condition.last);
    for (size_t i = condition.first; i < condition.last; ++i) {
      if (!source_.is_name(i)) continue;
      const std::string_view name = source_.at(i);
      if (!names_a_role(name) && !names_a_warpgroup(name) && !(certain && name_holds(name, "warp")))
        continue;
      if (!has_roles()) return;
      out_.push_back({pattern_id::kWarpSpecialisation,
                      short_source(source_, node.first, condition.last + 1), node.first,
                      certain ? Certainty::kCertain : Certainty::kLikely});
      return;
    }
  }

  // Whether the branch after a condition begins by taking or giving up registers.
  bool moves_registers(size_t at) const {
    constexpr size_t kNear = 40;
    const size_t end = std::min(nodes_.range.last, at + kNear);
    while (at < end && !moves_registers_at(source_, at)) ++at;
    return at < end;
  }

  // Whether any of the code names one, or moves registers.
  bool has_roles() {
    for (size_t i = nodes_.range.first; i < nodes_.range.last && !roles_; ++i) {
      roles_ =
          moves_registers_at(source_, i) || (source_.is_name(i) && names_a_role(source_.at(i)));
    }
    return roles_;
  }

  const NodeRange& nodes_;
  const TokenList& source_;
  std::vector<StructureHit>& out_;
  bool roles_ = false;
};

// tile = atomicAdd(&counter, 1): blocks take the next piece of work when they are done with one.
class WorkCounters {
 public:
  WorkCounters(const NodeRange& nodes, std::vector<StructureHit>& out)
      : nodes_(nodes), source_(nodes.source), out_(out) {}

  void run() {
    for (const uint32_t id : nodes_.order) {
      const CodeNode& node = nodes_[id];
      if (node.kind == CodeKind::kDeclarator && node.children.size() == 1)
        given(node.first, nodes_[node.children[0]]);
      if (node.kind == CodeKind::kAssign && node.text == "=" && node.children.size() == 2)
        given(node.first, nodes_[node.children[1]]);
    }
  }

 private:
  void given(size_t target, const CodeNode& value) {
    const CodeNode* call = &value;  // through casts and sums
    while ((call->kind == CodeKind::kCast || call->kind == CodeKind::kBinary) &&
           !call->children.empty()) {
      call = &nodes_[call->children[0]];
    }
    if (call->kind != CodeKind::kCall || call->children.size() < 3) return;
    const CodeNode& callee = nodes_[call->children[0]];
    if (callee.text != "atomicAdd" && callee.text != "atomicInc") return;
    const std::string_view by = nodes_[call->children[2]].text;
    if (by != "1" && by != "1u" && by != "1U") return;
    bool work = false;  // smem.tile = …, tile[0] = …, *next_work = …
    for (size_t i = target; i < value.first; ++i) {
      if (!source_.is_name(i)) continue;
      const std::string_view name = source_.at(i);
      work = work || name_holds(name, "tile") || name_holds(name, "work") ||
             name_holds(name, "task") || name_holds(name, "job");
    }
    if (!work) return;
    out_.push_back({"work_counter", short_source(source_, value.first - 2, call->last),
                    callee.first, Certainty::kLikely});
  }

  const NodeRange& nodes_;
  const TokenList& source_;
  std::vector<StructureHit>& out_;
};

}  // namespace

void find_work_sharing(const NodeRange& nodes, std::vector<StructureHit>& out) {
  GridSteps(nodes, out).run();
  WorkCounters(nodes, out).run();
  Roles(nodes, out).run();
}

namespace {

struct HostCopy {
  std::string to, from;
  uint32_t node = 0;
};

bool is_collective(std::string_view name) {
  return is_one_of(name, {"ncclAllReduce", "ncclAllGather", "ncclReduceScatter", "ncclBroadcast",
                          "ncclBcast", "ncclReduce", "ncclAlltoAll", "ncclSend", "ncclRecv"});
}

// The name of what a call calls, where it is written out.
std::string_view callee_name(const NodeRange& nodes, const CodeNode& node) {
  if (node.kind != CodeKind::kCall || node.children.empty()) return {};
  const CodeNode& callee = nodes[node.children[0]];
  return callee.kind == CodeKind::kName ? callee.text : CodeText();
}

// Whether two places stand in different branches of an if, so that one excludes the other.
bool exclude_each_other(const NodeRange& nodes, const CodeNode& one, const CodeNode& other) {
  const auto within = [](const CodeNode& at, const CodeNode& around) {
    return at.first >= around.first && at.first < around.last;
  };
  for (const uint32_t id : nodes.order) {
    const CodeNode& node = nodes[id];
    if (node.kind != CodeKind::kIf || node.children.size() < 3) continue;
    const CodeNode &then = nodes[node.children[1]], &otherwise = nodes[node.children[2]];
    if ((within(one, then) && within(other, otherwise)) ||
        (within(one, otherwise) && within(other, then))) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool calls_collective(const TokenRange& range) {
  for (size_t i = range.first; i < std::min(range.last, range.source.size()); ++i)
    if (range.source.is_name(i) && is_collective(range.source.at(i))) return true;
  return false;
}

void find_collectives(const NodeRange& nodes, std::vector<StructureHit>& out) {
  std::vector<HostCopy> copies;
  std::vector<uint32_t> collectives;
  for (const uint32_t id : nodes.order) {
    const CodeNode& node = nodes[id];
    const std::string_view name = callee_name(nodes, node);
    if ((name == "cudaMemcpyAsync" || name == "hipMemcpyAsync") && node.children.size() > 2) {
      copies.push_back(
          {nodes.tree.source(node.children[1]), nodes.tree.source(node.children[2]), id});
    }
    if (is_collective(name)) collectives.push_back(id);
  }
  constexpr size_t kMost = 64;  // copies that one collective is compared with
  if (copies.size() > kMost) copies.resize(kMost);
  for (const uint32_t id : collectives) {
    const CodeNode& node = nodes[id];
    std::string text(callee_name(nodes, node)), copied;
    const bool two_buffers = !text.ends_with("Send") && !text.ends_with("Recv");
    if (two_buffers && node.children.size() > 2) {
      const std::string from = nodes.tree.source(node.children[1]),
                        to = nodes.tree.source(node.children[2]);
      text += from == to ? " in place on " + from : " from " + from + " to " + to;
      for (const HostCopy& copy : copies) {
        const CodeNode& at = nodes[copy.node];
        const bool before = at.first < node.first;
        if (before ? copy.to != from : copy.from != to) continue;
        if (exclude_each_other(nodes, at, node)) continue;
        const std::string line = " (line " + std::to_string(at.line) + ")";
        if (before) copied = copy.from;
        text += before ? "; copied into it from " + copy.from + line
                       : "; copied out to " + copy.to + line;
      }
    }
    out.push_back({"nccl", text, node.first, Certainty::kCertain, copied});
  }
}

}  // namespace fathom::cpp
