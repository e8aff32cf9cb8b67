#include "tree/attention_lengths.h"

#include <charconv>
#include <optional>
#include <unordered_map>

#include "base/hash.h"
#include "base/tsv.h"
#include "tree/phase_names.h"

extern const std::string_view attention_ops_tsv;

namespace fathom {
namespace {

// Speculative decoding verifies a few tokens at once.
constexpr int64_t kFewQueries = 16, kKeysPerQuery = 4;

struct AttentionOp {
  size_t query = 0, key = 0, length = 0;
};

size_t number_in(std::string_view text) {
  size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

const AttentionOp* attention_op(std::string_view name) {
  static const auto ops = [] {
    std::unordered_map<std::string_view, AttentionOp, TableHash> all;
    for (const auto& row : read_tsv(attention_ops_tsv, 4)) {
      all[row[0]] = {number_in(row[1]), number_in(row[2]), number_in(row[3])};
    }
    return all;
  }();
  const auto found = ops.find(name);
  return found == ops.end() ? nullptr : &found->second;
}

// A dimension, counted from the end, of an input in "[[4,16,1,128],[4,4,1040,128],…]".
std::optional<int64_t> dimension(std::string_view dims, size_t input, size_t from_end) {
  if (!dims.starts_with('[')) return std::nullopt;
  size_t at = 0;
  for (size_t i = 0; i <= input; ++i) {
    at = dims.find('[', at + 1);
    if (at == std::string_view::npos) return std::nullopt;
  }
  std::string_view list = dims.substr(at + 1);
  list = list.substr(0, list.find_first_of("[]"));
  for (size_t i = 1; i < from_end; ++i) {
    const size_t comma = list.rfind(',');
    if (comma == std::string_view::npos) return std::nullopt;
    list = list.substr(0, comma);
  }
  list = list.substr(list.rfind(',') + 1);  // the whole list where there is no comma
  list = list.substr(std::min(list.find_first_not_of(' '), list.size()));
  int64_t value = 0;
  const auto read = std::from_chars(list.data(), list.data() + list.size(), value);
  if (read.ec != std::errc{}) return std::nullopt;
  return value;
}

AttentionUse use_of(const AttentionOp& op, std::string_view dims) {
  const auto queries = dimension(dims, op.query, op.length);
  const auto keys = dimension(dims, op.key, op.length);
  if (!queries || !keys || *queries <= 0 || *keys <= 0) return AttentionUse::kNone;
  if (*queries > kFewQueries) return AttentionUse::kPrompt;
  return *keys / kKeysPerQuery >= *queries ? AttentionUse::kToken : AttentionUse::kNone;
}

}  // namespace

AttentionLengths::AttentionLengths(const EventStore& store, const CallTree& tree)
    : store_(store), tree_(tree), ops_(tree.size()), uses_(tree.size()) {
  std::unordered_map<StringId, const AttentionOp*> by_name;
  for (size_t i = 0; i < tree.size(); ++i) {  // callers come first
    const CallId call(i), parent = tree.parent(call);
    if (parent.valid() && ops_[parent.index].valid()) {
      ops_[i] = ops_[parent.index];
      uses_[i] = uses_[parent.index];
      continue;
    }
    const EventId e = tree.event(call);
    if (store.kind(e) != EventKind::kCpuOp || !store.args_id(e).valid()) continue;
    const auto [known, is_new] = by_name.emplace(store.name_id(e), nullptr);
    if (is_new) known->second = attention_op(store.name(e));
    if (known->second == nullptr) continue;
    uses_[i] = use_of(*known->second, store.text(store.args(store.args_id(e)).dims));
    if (uses_[i] != AttentionUse::kNone) ops_[i] = call;
  }
  kernels_.resize(store.text_count());
  std::vector<bool> asked(store.text_count());
  for (size_t i = 0; i < store.size(); ++i) {
    const EventId e(i);
    const uint32_t name = store.name_id(e).index;
    if (store.kind(e) != EventKind::kKernel || asked[name]) continue;
    asked[name] = true;
    const auto kind = kind_of_code(NamedCode::kKernel, store.name(e));
    if (kind == PhaseKind::kDecode) kernels_[name] = AttentionUse::kToken;
    if (kind == PhaseKind::kPrefill) kernels_[name] = AttentionUse::kPrompt;
  }
}

AttentionUse AttentionLengths::use(EventId gpu_event) const {
  const CallId launch = tree_.launch(gpu_event);
  if (launch.valid() && uses_[launch.index] != AttentionUse::kNone) return uses_[launch.index];
  return kernels_[store_.name_id(gpu_event).index];
}

uint32_t AttentionLengths::source(EventId gpu_event) const {
  const CallId launch = tree_.launch(gpu_event);
  const CallId op = launch.valid() ? ops_[launch.index] : CallId{};
  return op.valid() ? tree_.event(op).index : gpu_event.index;
}

}  // namespace fathom
