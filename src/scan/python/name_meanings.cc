#include "scan/python/name_meanings.h"

#include "base/text_parts.h"

namespace fathom::python {
namespace {

constexpr size_t kMostMeanings = 16;
constexpr size_t kMostTries = 400;  // k = k, many times over, means nothing
constexpr int kDeepestMeaning = 8;
constexpr size_t kLooksOfNode = 4;  // entries of dictionaries that are looked at, for each node

}  // namespace

void NameMeanings::read_assignments() {
  if (is_read_) return;
  is_read_ = true;
  for (const Site& site : outline_.assignments) {
    const NodeId target = tree_.child(site.node), value = tree_.assigned_value(site.node);
    if (value == 0) continue;
    if (tree_.kind(target) == NodeKind::kTuple) {
      assign_parts(site, target, value);
    } else {
      assign(site, target, value);
    }
  }
}

void NameMeanings::assign(const Site& site, NodeId target, NodeId value) {
  const NodeKind kind = tree_.kind(target);
  if (value == 0 || (kind != NodeKind::kName && kind != NodeKind::kAttribute)) return;
  assigned_[{site.function, tree_.source(target, kLongest)}].push_back(value);
}

// What `a, b = value` gives to its names: of a tuple the part in the same place, of a call the
// call.
void NameMeanings::assign_parts(const Site& site, NodeId targets, NodeId value) {
  const bool tuple = tree_.kind(value) == NodeKind::kTuple;
  if (!tuple && tree_.kind(value) != NodeKind::kCall) return;
  NodeId part = tuple ? tree_.child(value) : value;
  for (const NodeId target : tree_.children(targets)) {
    assign(site, target, part);
    if (tuple && part != 0) part = tree_[part].next;
  }
}

const std::vector<NodeId>* NameMeanings::assigned(const Site& site, std::string_view name) {
  read_assignments();
  uint32_t function = site.function;
  while (true) {
    const auto found = assigned_.find({function, std::string(name)});
    if (found != assigned_.end()) return &found->second;
    if (function == kNowhere) return nullptr;
    function = outline_.functions[function].function;
  }
}

const std::vector<NodeId>* NameMeanings::assigned_in_class(const Site& site,
                                                           const std::string& name) {
  if (site.function == kNowhere) return nullptr;
  read_assignments();
  if (members_.empty()) {
    for (const auto& [place, values] : assigned_) {
      if (place.first != kNowhere && place.second.starts_with("self."))
        members_.try_emplace({outline_.functions[place.first].in_class, place.second}, &values);
    }
  }
  const auto found = members_.find({outline_.functions[site.function].in_class, name});
  return found == members_.end() ? nullptr : found->second;
}

bool NameMeanings::is_bound(const Site& site, std::string_view name) const {
  for (NodeId at = site.node; at != 0; at = outline_.parent(at)) {
    const NodeKind kind = tree_.kind(at);
    if (kind == NodeKind::kFunction) break;
    if (kind == NodeKind::kFor && tree_.is_name(tree_.child(at), name)) return true;
    if (kind != NodeKind::kComprehension) continue;
    for (const NodeId part : tree_.children(at)) {
      if (tree_.kind(part) == NodeKind::kComprehensionFor && tree_.is_name(tree_.child(part), name))
        return true;
    }
  }
  return is_parameter(site.function, name);
}

bool NameMeanings::is_parameter(uint32_t function, std::string_view name) const {
  if (function == kNowhere) return false;
  const NodeId list = tree_.child_of_kind(outline_.functions[function].node, NodeKind::kParameters);
  for (const NodeId one : tree_.children(list))
    if (tree_.name(one) == name || tree_.extra(one) == name) return true;
  return false;
}

std::string NameMeanings::literal_at(NodeId node) const {
  if (node == 0 || tree_.kind(node) != NodeKind::kString) return {};
  const std::string text = tree_.source(node, kLongest);
  const bool quoted = text.size() > 2 && (text[0] == '"' || text[0] == '\'');
  return quoted ? text.substr(1, text.size() - 2) : std::string();
}

std::vector<std::string> NameMeanings::meanings(const Site& site, NodeId expression) {
  std::vector<std::string> out;
  tries_ = 0;
  keys_.clear();
  add_meanings(site, expression, out, 0);
  return out;
}

void NameMeanings::add_meanings(const Site& site, NodeId kernel, std::vector<std::string>& out,
                                int depth) {
  if (depth > kDeepestMeaning || out.size() >= kMostMeanings || kernel == 0 ||
      ++tries_ > kMostTries)
    return;
  switch (tree_.kind(kernel)) {
    case NodeKind::kName:
    case NodeKind::kAttribute:
      return of_name(site, kernel, out, depth);
    case NodeKind::kConditional: {
      uint32_t index = 0;
      for (const NodeId part : tree_.children(kernel)) {  // value, test, value …
        if (index++ % 2 == 0) add_meanings(site, part, out, depth + 1);
      }
      return;
    }
    case NodeKind::kSubscript:  // {True: a, False: b}[flag], TABLE[name]["update"]
      keys_.push_back(literal_at(tree_.child(kernel, 1)));
      add_meanings(site, tree_.child(kernel), out, depth + 1);
      keys_.pop_back();
      return;
    case NodeKind::kDict:
    case NodeKind::kList:
    case NodeKind::kTuple:
      return of_entries(site, kernel, out, depth);
    case NodeKind::kBoolean:  // tuned or plain
      for (const NodeId part : tree_.children(kernel)) add_meanings(site, part, out, depth + 1);
      return;
    case NodeKind::kCall:
      return of_call(site, kernel, out, depth);
    default:
      return;
  }
}

void NameMeanings::of_name(const Site& site, NodeId name, std::vector<std::string>& out,
                           int depth) {
  std::string text = tree_.source(name, kLongest);
  if (text == "None") return;
  if (text.ends_with("._pyfunc")) text.resize(text.size() - 8);  // what cuTile wrapped
  const std::vector<NodeId>* values = assigned(site, text);
  if (values == nullptr) {
    if (!contains(out, text)) out.push_back(text);
    return;
  }
  const size_t before = out.size();
  for (const NodeId value : *values) {
    if (out.size() >= kMostMeanings || tries_ > kMostTries) break;
    add_meanings(site, value, out, depth + 1);
  }
  if (out.size() == before && depth == 0) out.push_back(text);
}

// What the innermost subscript around a table says, where that is a literal.
std::string NameMeanings::take_key() {
  if (keys_.empty()) return {};
  std::string key = std::move(keys_.back());
  keys_.pop_back();
  return key;
}

void NameMeanings::of_entries(const Site& site, NodeId table, std::vector<std::string>& out,
                              int depth) {
  const bool asked = !keys_.empty();
  const std::string key = take_key();
  const bool has_keys = tree_.kind(table) == NodeKind::kDict;
  for (const NodeId entry : tree_.children(table)) {
    if (!has_keys) {
      add_meanings(site, entry, out, depth + 1);
      continue;
    }
    // A large table that each launch looks into must not cost its square.
    if (++looks_ > kLooksOfNode * tree_.nodes.size()) break;
    if (tree_.kind(entry) != NodeKind::kPair) continue;
    const std::string of_entry = literal_at(tree_.child(entry));
    if (key.empty() || of_entry.empty() || key == of_entry)
      add_meanings(site, tree_.child(entry, 1), out, depth + 1);
  }
  if (asked) keys_.push_back(key);
}

// triton.jit(f), partial(f, …), heuristics(…)(f), kernel.replace_hints(…), and bound = kernel(…).
void NameMeanings::of_call(const Site& site, NodeId call, std::vector<std::string>& out,
                           int depth) {
  const NodeId callee = tree_.child(call);
  const std::string_view maker = outline_.last_name(callee);
  const NodeId first = outline_.arguments(call).at(0);
  const bool wraps =
      is_one_of(maker, {"jit", "partial", "compile", "wrap_triton", "capture_triton"}) ||
      outline_.path(callee) == "cuda.tile.kernel" || maker.empty();
  if (wraps && first != 0) return add_meanings(site, first, out, depth + 1);
  // TABLE.get(key) is one of its values, kernel.replace_hints(…) the kernel.
  const bool changes =
      (maker == "replace_hints" || maker == "get") && tree_.kind(callee) == NodeKind::kAttribute;
  add_meanings(site, changes ? tree_.child(callee) : callee, out, depth + 1);
}

}  // namespace fathom::python
