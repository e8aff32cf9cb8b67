// Indices and masks that several calls of a function compute from the same integers.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "analyze/finding_parts.h"
#include "analyze/patterns/pattern_finding.h"
#include "analyze/patterns/patterns.h"
#include "base/count_text.h"

namespace fathom::patterns {
namespace {

enum class Reads : uint8_t { kIntegers, kNothing, kOne, kOther };

// What a call computes from. A copy reads its second tensor.
Reads what_it_reads(const PatternInput& in, const AssessedCall& call) {
  const OpView& view = in.view(call);
  const bool copies = call.assessed->group->key.name == "aten::copy_";
  if (copies && view.tensor(1) != nullptr)
    return is_integer_type(*view.tensor(1)) ? Reads::kIntegers : Reads::kOne;
  size_t tensors = 0, integers = 0;
  for (const ArgValue& value : view.args.inputs) {
    if (!value.list.empty()) return Reads::kOther;
    if (!value.is_tensor()) continue;
    ++tensors;
    integers += is_integer_type(value);
  }
  if (tensors == 0) return Reads::kNothing;
  return integers == tensors ? Reads::kIntegers : tensors == 1 ? Reads::kOne : Reads::kOther;
}

// Calls in a row, of one call of a function, that read integers, or what these calls made.
struct IntegerChain {
  EventId frame;
  std::vector<size_t> places;
  std::vector<int64_t> sources;  // elements of the integers that it reads and did not make
  std::vector<int64_t> made;     // elements of what its calls may have made
  int64_t largest = 0;
};

// The chains in the order of calls, and what may change integers between them.
class IntegerChains {
 public:
  explicit IntegerChains(const PatternInput& in) : in_(in) {}

  // The calls that compute what an earlier call of the same function computed in this step.
  std::vector<size_t> find() {
    const std::vector<AssessedCall>& calls = in_.calls();
    for (size_t i = 0; i < calls.size(); ++i) {
      // The first of a step stays: a step may bring other integers.
      const size_t step = in_.step_of(calls[i]);
      if (i > 0 && (step != step_ || !in_.same_thread(calls[i - 1], calls[i]))) {
        close();
        last_.clear();
      }
      step_ = step;
      add(i);
    }
    close();
    std::ranges::sort(again_);
    return std::move(again_);
  }
  size_t chains() const { return chains_; }

  // Whether a tensor of integers is cut into parts as large as what was read: each call may have
  // got another part.
  bool may_read_parts() const {
    return std::ranges::any_of(in_.cut_tensors(), [this](const PatternInput::CutTensor& whole) {
      return whole.is_integer && std::ranges::any_of(sources_, [&whole](int64_t part) {
               return part > 0 && whole.elements > part && whole.elements % part == 0;
             });
    });
  }

 private:
  static constexpr size_t kMostCalls = 48;

  void add(size_t place) {
    const AssessedCall& call = in_.calls()[place];
    const EventId frame = in_.user_frame(call.op->event);
    const Reads reads = what_it_reads(in_, call);
    const bool begins = reads == Reads::kIntegers && !changes_its_input(call);
    const bool is_open = !open_.places.empty() && open_.frame == frame && frame.valid() &&
                         open_.places.size() < kMostCalls;
    const bool goes_on = is_open && (begins || reads == Reads::kNothing || is_made_on(call, reads));
    if (!goes_on) {
      close();
      if (begins && frame.valid()) open_.frame = frame;
    }
    if (goes_on || (begins && frame.valid())) {
      append(place, call);
    } else {
      note_change(place, call, reads);
    }
  }

  // Elementwise on what the chain made, alone.
  bool is_made_on(const AssessedCall& call, Reads reads) const {
    if (reads != Reads::kOne) return false;
    if (call.assessed->category != "elementwise" && !in_.has(call, Role::kCopy)) return false;
    const bool copies = call.assessed->group->key.name == "aten::copy_";
    const ArgValue* read = in_.view(call).tensor(copies ? 1 : 0);
    return read != nullptr && elements_of(*read) == open_.largest;
  }

  // In place, so that a later call reads other integers. What is filled is made anew.
  bool changes_its_input(const AssessedCall& call) const {
    const std::string_view name = call.assessed->group->key.name;
    if (in_.has(call, Role::kFill) || name == "aten::copy_") return false;
    return name.ends_with('_') && !name.ends_with("__");
  }

  void append(size_t place, const AssessedCall& call) {
    open_.places.push_back(place);
    std::vector<int64_t> dims;
    for (const ArgValue& value : in_.view(call).args.inputs) {
      if (!value.is_tensor()) continue;
      const int64_t elements = elements_of(value);
      if (is_integer_type(value) && std::ranges::find(open_.made, elements) == open_.made.end())
        open_.sources.push_back(elements);
      const std::vector<int64_t>& own = value.shape.dims;
      if (dims.size() < own.size()) dims.insert(dims.begin(), own.size() - dims.size(), 1);
      for (size_t i = 0; i < own.size(); ++i) {
        int64_t& dim = dims[dims.size() - 1 - i];
        dim = std::max(dim, own[own.size() - 1 - i]);
      }
    }
    const int64_t made = element_count(dims).value_or(0);
    open_.made.push_back(made);
    open_.largest = std::max(open_.largest, made);
  }

  // Integers that are chosen by numbers, drawn, copied from the host, or changed in place. What
  // reads as many numbers may have compared them.
  void note_change(size_t place, const AssessedCall& call, Reads reads) {
    if (reads == Reads::kOne || reads == Reads::kOther) ++others_;
    const OpView& view = in_.view(call);
    if (view.has(Role::kChooses)) chosen_ = place;
    for (const ArgValue& value : view.args.inputs)
      if (value.is_tensor() && !is_integer_type(value)) changed_[elements_of(value)] = place;
    const ArgValue* first = view.tensor(0);
    if (first == nullptr || !is_integer_type(*first)) return;
    const bool copies = call.assessed->group->key.name == "aten::copy_";
    if (copies || changes_its_input(call)) changed_[elements_of(*first)] = place;
  }

  bool is_unchanged_since(const IntegerChain& chain, size_t place) const {
    if (chosen_ && *chosen_ > place) return false;
    return std::ranges::none_of(chain.sources, [&](int64_t elements) {
      const auto found = changed_.find(elements);
      return found != changed_.end() && found->second > place;
    });
  }

  // Quantized weights: each layer has its own.
  bool is_weight(const IntegerChain& chain) const {
    constexpr size_t kNext = 4;
    for (const ArgValue& value : in_.view(in_.calls()[chain.places.front()]).args.inputs) {
      const ElementType* type = value.is_tensor() ? find_element_type(value.type) : nullptr;
      if (type != nullptr && type->bits == 8 && value.type != "bool") return true;
    }
    const size_t end = std::min(in_.calls().size(), chain.places.back() + 1 + kNext);
    for (size_t i = chain.places.back() + 1; i < end; ++i) {
      const AssessedCall& call = in_.calls()[i];
      if (!in_.product(*call.assessed)) continue;
      for (const ArgValue& value : in_.view(call).args.inputs)
        if (value.is_tensor() && elements_of(value) == chain.largest) return true;
    }
    return false;
  }

  void close() {
    IntegerChain chain = std::move(open_);
    open_ = {};
    if (chain.places.empty() || chain.sources.empty()) return;
    std::vector<size_t> key = {in_.store().name_id(chain.frame).index};
    bool from_host = false;
    for (const size_t place : chain.places) {
      const AssessedCall& call = in_.calls()[place];
      key.push_back(static_cast<size_t>(call.assessed - in_.assessment().ops().data()));
      constexpr std::string_view kFromHost[] = {"HtoD"};
      from_host =
          from_host || (in_.view(call).tensor(0) != nullptr && in_.any_kernel(*call.op, kFromHost));
    }
    if (from_host || is_weight(chain)) return;
    const auto [entry, is_new] = last_.try_emplace(std::move(key));
    // Another function call, and work on numbers between: the integers are no state that it
    // advances.
    const bool again = !is_new && entry->second.frame != chain.frame &&
                       entry->second.others < others_ &&
                       is_unchanged_since(chain, entry->second.end);
    if (again) {
      ++chains_;
      sources_.insert(chain.sources.begin(), chain.sources.end());
      again_.insert(again_.end(), chain.places.begin(), chain.places.end());
    }
    entry->second = {chain.frame, chain.places.back(), others_};
  }

  struct Last {
    EventId frame;
    size_t end = 0, others = 0;
  };
  const PatternInput& in_;
  IntegerChain open_;
  std::map<std::vector<size_t>, Last> last_;     // by function and ops
  std::unordered_map<int64_t, size_t> changed_;  // by elements: the last call that did
  std::optional<size_t> chosen_;
  std::set<int64_t> sources_;  // of the chains that were computed again
  size_t others_ = 0;          // calls that read numbers
  size_t chains_ = 0, step_ = 0;
  std::vector<size_t> again_;
};

}  // namespace

std::vector<Finding> computed_again(const PatternInput& in) {
  if (!in.assessment().places().has_frames()) return {};
  IntegerChains search(in);
  MatchedCalls found;
  for (const size_t place : search.find()) found.add(in.calls()[place]);
  const size_t chains = search.chains();
  if (chains < in.steps()) return {};
  const double most = found.counted() + found.waited();
  if (found.empty() || !is_noticeable(in, most) || search.may_read_parts()) return {};
  PatternText text{FindingKind::kRepeatedTables,
                   std::string(ops_by_time(found.calls()).front()->group->key.name),
                   "Indices or masks are computed again from the same integers",
                   fmt::format("{} of a function repeat what an earlier one of the step computed "
                               "from integers that nothing changed in between: {}, {} of it idle "
                               "time before their launches.",
                               per_step(in, chains, "call", "calls"),
                               micros_text(nanos_from(found.seconds() + found.waited())),
                               micros_text(nanos_from(found.waited()))),
                   Confidence::kMedium};
  return {pattern_finding(in, std::move(text), found,
                          {found.counted(), most, "computed once a step",
                           "computed once a step, without the idle time before the launches"})};
}

}  // namespace fathom::patterns
