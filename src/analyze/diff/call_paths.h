#pragma once

#include <unordered_map>

#include "sheets/gpu_selection.h"

namespace fathom {

using PathId = StrongId<struct PathTag>;

// Where an op was called from: annotations, nn.Modules and ops around it. Three chains and not one,
// since a Python frame's clock is too coarse to say which of an op and a module is the outer one.
struct CallPath {
  PathId annotations, modules, ops;

  auto operator<=>(const CallPath&) const = default;
};

// Texts and chains of names of both traces: what is equal has the same id in A and in B.
class NameTable {
 public:
  StringId intern(std::string_view text) { return strings_.intern(text); }
  std::string_view text(StringId id) const {
    return id.valid() ? strings_.text(id) : std::string_view{};
  }
  // The chain with one more name inside it. The invalid id is the chain of no names.
  PathId extend(PathId around, StringId name);
  // "train > Block > aten::linear", outermost first. Of a deep one the middle is left out.
  std::string path_text(const CallPath& path) const;

 private:
  static constexpr size_t kShownOuterNames = 8;
  struct Link {
    PathId around;
    StringId name;
    uint32_t depth;  // of the chain, with this name
    PathId outer;    // the innermost of its outermost names that are shown
  };

  StringPool strings_;
  std::vector<Link> links_;
  std::unordered_map<uint64_t, PathId, TableHash> by_link_;
};

// The call paths of one trace's ops.
class CallPaths {
 public:
  CallPaths(const SheetInput& input, NameTable& names);

  // Of each op (or runtime call) given, in the same order.
  std::vector<CallPath> find(const std::vector<EventId>& ops);
  // An op's or a kernel's name, without what only this run knows.
  StringId op_name(StringId store_name);

 private:
  void follow_ops();
  PathId modules_at(EventId frame);
  std::vector<PathId> annotations_at(const std::vector<EventId>& ops);

  const SheetInput& input_;
  NameTable& names_;
  std::vector<PathId> op_chains_;                      // by call, with itself
  std::vector<StringId> op_names_;                     // by the store's name
  std::unordered_map<EventId, PathId> module_chains_;  // by frame
};

}  // namespace fathom
