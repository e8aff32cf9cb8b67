#pragma once

#include <map>

#include "scan/cpp/cpp_file.h"
#include "scan/cpp/tree/code_tree.h"

namespace fathom::cpp {

// The trees of a file's functions, each made when it is first asked for. What the code and the
// definitions refer to must outlive it.
class BodyTrees {
 public:
  BodyTrees(const Code& code, const Definitions& definitions)
      : code_(code), definitions_(definitions) {}

  // Of a function with a body, by its number. Where many were made, earlier ones are gone.
  const CodeTree& of(size_t function);
  const Code& code() const { return code_; }

 private:
  const Code code_;
  const Definitions& definitions_;
  std::map<std::pair<size_t, size_t>, CodeTree> trees_;  // by the tokens of { and }
  size_t nodes_ = 0;
};

// The nodes that begin between two tokens, in order of the source.
std::vector<uint32_t> nodes_between(const CodeTree& tree, size_t first, size_t last);
// The same, with those that begin before `first` and reach into it.
std::vector<uint32_t> nodes_around(const CodeTree& tree, size_t first, size_t last);

}  // namespace fathom::cpp
