// Products in backward() of the program's own autograd functions whose results are no gradient of
// anything: weights that are frozen.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_set>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

constexpr std::string_view kEvaluatedNode = "autograd::engine::evaluate_function: ";

// PyTorch's own nodes end with a number: "MmBackward0".
bool is_own_node(std::string_view name) {
  return name.ends_with("Backward") && name.find("::") == std::string_view::npos;
}

// Sizes of all gradients that some node of the graph gets, in elements.
std::unordered_set<int64_t> gradient_sizes(const PatternInput& in) {
  std::unordered_set<int64_t> sizes;
  const EventStore& store = in.store();
  for (CallId c(0); c.index < in.tree().size(); ++c.index) {
    const EventId e = in.tree().event(c);
    const CallId parent = in.tree().parent(c);
    if (!parent.valid() || !store.name(in.tree().event(parent)).starts_with(kEvaluatedNode))
      continue;
    const auto args = read_op_args(store, store.args_id(e));
    if (!args) continue;
    for (const ArgValue& value : args->inputs)
      if (value.is_tensor()) sizes.insert(elements_of(value));
  }
  return sizes;
}

// The node of the program's own function that a call runs in; invalid: none.
CallId own_node(const PatternInput& in, EventId event) {
  constexpr int kDepth = 16;
  CallId c = in.tree().call(event);
  for (int i = 0; i < kDepth && c.valid(); ++i, c = in.tree().parent(c))
    if (is_own_node(in.store().name(in.tree().event(c)))) return c;
  return {};
}

}  // namespace

std::vector<Finding> custom_gradients(const PatternInput& in) {
  if (!in.has_backward()) return {};
  struct Unread {
    size_t place;
    int64_t elements;
  };
  std::map<CallId, std::vector<Unread>> products;  // of each node: nothing has read them yet
  for (size_t i = 0; i < in.calls().size(); ++i) {
    const AssessedCall& call = in.calls()[i];
    const CallId node = own_node(in, call.op->event);
    if (!node.valid()) continue;
    std::vector<Unread>& of_node = products[node];
    for (const ArgValue& value : in.view(call).args.inputs) {
      if (!value.is_tensor()) continue;
      const int64_t read = elements_of(value);
      std::erase_if(of_node, [read](const Unread& made) { return made.elements == read; });
    }
    const auto& size = in.product(*call.assessed);
    if (!size || size->batch < 1 || size->m < 2 || size->n < 2 ||
        size->m > INT64_MAX / size->n / size->batch)
      continue;
    constexpr size_t kMost = 16;  // of a node: each call looks at all of them
    if (of_node.size() < kMost) of_node.push_back({i, size->batch * size->m * size->n});
  }
  if (products.empty()) return {};
  const std::unordered_set<int64_t> gradients = gradient_sizes(in);
  if (gradients.empty()) return {};
  MatchedCalls found;
  for (const auto& [node, unread] : products)
    for (const Unread& made : unread)
      if (!gradients.contains(made.elements)) found.add(in.calls()[made.place]);
  const double saved = found.counted();
  if (found.empty() || found.size() < in.steps() || !is_noticeable(in, saved)) return {};
  PatternText text{FindingKind::kUnusedGradients,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   "A backward() of the program computes gradients that go nowhere",
                   fmt::format("{} in the program's own autograd functions have a result of a size "
                               "that no node of the graph gets as a gradient, and that nothing "
                               "reads: {}. Such are gradients of frozen weights.",
                               per_step(in, found.size(), "product", "products"),
                               micros_text(nanos_from(found.seconds()))),
                   Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {saved, saved + found.waited(), "", "without these products"},
                          Traits{"own_function"})};
}

}  // namespace fathom::patterns
