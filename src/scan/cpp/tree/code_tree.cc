// How CodeTreeReader makes nodes, and what is asked of a whole tree.
#include "scan/cpp/tree/code_tree.h"

#include <utility>

#include "scan/cpp/tree/code_reader.h"

namespace fathom {

CodeTreeReader::CodeTreeReader(CodeTree& tree, size_t first, size_t last, uint32_t line)
    : tree_(tree),
      source_(*tree.tokens),
      brackets_(*tree.brackets),
      last_(std::min(last, source_.size())),
      line_(line - 1),
      at_(first) {
  const size_t tokens = last_ > first ? last_ - first : 0;
  tree_.nodes.reserve(tokens + 4);
  links_.reserve(tokens + 4);
}

uint32_t CodeTreeReader::make(CodeKind kind, size_t first) {
  CodeNode& made = tree_.nodes.emplace_back();
  made.kind = kind;
  made.first = made.last = static_cast<uint32_t>(first);
  made.line = first < source_.size() ? source_.tokens[first].line + line_ : 0;
  links_.emplace_back();
  return static_cast<uint32_t>(tree_.nodes.size() - 1);
}

void CodeTreeReader::adopt(uint32_t parent, uint32_t child) {
  CodeNode& below = node(child);
  if (below.height >= kMaxTreeHeight) {
    below.kind = below.kind < CodeKind::kBlock ? CodeKind::kUnknown : CodeKind::kOther;
    links_[child].first = links_[child].last = 0;
    below.height = 0;
  }
  Links& family = links_[parent];
  (family.first == 0 ? family.first : links_[family.last].next) = child;
  family.last = child;
  CodeNode& above = node(parent);
  above.height = std::max(above.height, static_cast<uint16_t>(below.height + 1));
}

void CodeTreeReader::take_children(uint32_t parent, uint32_t from) {
  const Links given = std::exchange(links_[from], {});
  for (uint32_t child = given.first; child != 0;) {
    const uint32_t next = std::exchange(links_[child].next, 0);
    adopt(parent, child);
    child = next;
  }
}

void CodeTreeReader::link_children() {
  std::vector<uint32_t>& all = tree_.children_;
  all.reserve(tree_.nodes.size());  // each is at most one node's child, so the list never moves
  for (uint32_t id = 0; id < tree_.nodes.size(); ++id) {
    const size_t begin = all.size();
    for (uint32_t child = links_[id].first; child != 0; child = links_[child].next)
      all.push_back(child);
    node(id).children = {all.data() + begin, static_cast<uint32_t>(all.size() - begin)};
  }
}

CodeText CodeTreeReader::kept(size_t first, size_t last) {
  last = std::min(last, source_.size());
  if (first >= last) return {};
  const uint32_t begin = source_.tokens[first].begin;
  bool plain = source_.tokens[first].kind != cpp::TokenKind::kDirective;
  for (size_t i = first + 1; i < last && plain; ++i) {
    const uint32_t before = source_.tokens[i - 1].end, gap = source_.tokens[i].begin - before;
    plain = source_.tokens[i].kind != cpp::TokenKind::kDirective &&
            (gap == 0 || (gap == 1 && source_.text[before] == ' '));
  }
  if (plain) return source_.text.substr(begin, source_.tokens[last - 1].end - begin);
  return std::string_view(tree_.texts_.emplace_front(source_.source(first, last)));
}

std::string CodeTree::source(const CodeNode& node) const {
  constexpr uint32_t kMaxTokens = 120;
  uint32_t first = node.first, last = node.last;
  // Brackets around all of it say nothing.
  while (first + 2 < last && tokens->is(first, "(") && brackets->partner(first) == last - 1) {
    ++first;
    --last;
  }
  if (last - first <= kMaxTokens) return tokens->source(first, last);
  return tokens->source(first, first + kMaxTokens) + "… " + std::to_string(first);
}

size_t CodeTree::bytes() const {
  if (own) return own->text.size();
  if (nodes.empty()) return 0;
  const CodeNode& all = nodes[root];
  return all.last > all.first ? tokens->tokens[all.last - 1].end - tokens->tokens[all.first].begin
                              : 0;
}

CodeTree read_statements(const cpp::Code& code, size_t first, size_t last) {
  CodeTree tree;
  tree.tokens = &code.source;
  tree.brackets = &code.brackets;
  CodeTreeReader(tree, first, last, 1).run();
  return tree;
}

CodeTree read_code(std::string text, uint32_t line) {
  CodeTree tree;
  tree.own = std::make_shared<const CodeTree::Source>(std::move(text));
  tree.tokens = &tree.own->list;
  tree.brackets = &tree.own->pairs;
  const bool braced = tree.tokens->is(0, "{");
  const size_t close = braced && tree.brackets->closed(0) ? tree.brackets->partner(0) : SIZE_MAX;
  CodeTreeReader(tree, braced ? 1 : 0, braced ? close : 0, line).run();
  return tree;
}

}  // namespace fathom
