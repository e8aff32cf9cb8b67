#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scan/accesses/index_parts.h"
#include "scan/accesses/polynomial.h"

namespace fathom {

// The values that indices are made of: names that are the same for all threads, the threads' own
// coordinates, loops, and what is computed from them. It tells how many values something takes over
// the whole launch, as a formula of the code's own names.
//
// Where a value's parts come from is kept as paths: "threadIdx.x" is all of it; its quotient by 32
// and its remainder are two halves, which together are all of it again.
class IndexSpace {
 public:
  enum class Kind : uint8_t {
    kUniform,    // the same for all threads: N, blockDim.x
    kBase,       // a coordinate: blockIdx.x, threadIdx.x, an element of tl.arange
    kVariable,   // a local name and its value
    kDivided,    // value / divisor
    kRemainder,  // value % divisor
    kLoop,       // starts at value, goes on by divisor
    kComputed,   // by something that is not followed, of its inputs
    kLoaded      // the same, and a load from memory is part of it
  };

  Symbol uniform(std::string_view name);
  // `extent` is the name of its number of values: gridDim.x of blockIdx.x.
  Symbol base(std::string_view name, const Polynomial& extent);
  Symbol variable(std::string_view name, Polynomial value);
  Symbol loop(std::string_view name, Polynomial start, Polynomial step, Polynomial end);
  // `end`: no value of it is above this, where that is known.
  Symbol computed(std::string name, const std::vector<Symbol>& inputs, bool loaded,
                  std::optional<Polynomial> end = std::nullopt);
  Polynomial divided(const Polynomial& value, const Polynomial& divisor);
  Polynomial remainder(const Polynomial& value, const Polynomial& divisor);

  // "(a) op (b)" for a name, cut where that is long.
  static std::string joined(const std::string& a, std::string_view op, const std::string& b);

  Kind kind(Symbol symbol) const { return facts_[symbol].kind; }
  std::string text(const Polynomial& value) const;
  bool is_uniform(const Polynomial& value) const;
  // A value with the loaded parts in it: through an index.
  bool depends_on_load(const Polynomial& value) const;
  // The same, but not on what all threads read alike: x[*length * block + thread] is no gather.
  bool depends_on_varying_load(const Polynomial& value) const;
  // The symbols that differ between threads or rounds of loops.
  std::vector<Symbol> varying(const Polynomial& value) const;

  // Values from 0 to before `end` from here on; gives back what was before, for restore().
  struct Saved {
    Symbol symbol = 0;
    std::optional<Polynomial> limit;
    bool single = false;
  };
  Saved limit(Symbol symbol, Polynomial end);
  Saved single(Symbol symbol);  // one value only
  void restore(Saved saved);

  // How many different values it takes; none: unknown.
  std::optional<Polynomial> extent(Symbol symbol) const;
  // How many different values an expression takes over the whole launch.
  std::optional<Polynomial> footprint(const Polynomial& value) const;
  // How many values lie between its first and last: extent × the step between them.
  std::optional<Polynomial> span_of(const Polynomial& value) const;
  // Whether it is known where its values lie, not only how many they are.
  bool is_located(const Polynomial& value) const;
  Polynomial step_of(const Polynomial& value) const;
  // The same of the part that differs between neighbouring threads.
  Polynomial lane_step(const Polynomial& value) const;
  // The same with the values of local names in their place, as far as that stays short.
  Polynomial without_names(Polynomial value) const;
  // Its text with loops called by what they run over, so that two loops over the same values are
  // the same.
  std::string shape_of(const Polynomial& value) const;
  // Of a sum, the terms that are the same for all threads.
  Polynomial uniform_part(const Polynomial& value) const;
  // How often code inside these loops and guards runs, all threads together.
  std::optional<Polynomial> times(const std::vector<Symbol>& loops,
                                  const std::vector<Symbol>& guarded) const;
  // The difference of the value between neighbouring threads of a warp; none: unknown.
  std::optional<Polynomial> lane_stride(const Polynomial& value) const;
  // The value for one thread of a warp as an expression of threadIdx.x, with all else at its first
  // value: which bytes of memory a warp touches together. Empty: unknown.
  std::string lane_text(const Polynomial& value) const;
  // A bound that is the same for all threads: of min(n, x) it is n. None: unknown.
  std::optional<Polynomial> upper_bound(const Polynomial& value) const;
  // Whether the number of its values is only an upper bound: several inputs may give the same.
  bool is_at_most(const Polynomial& value) const;
  // The number of the round, up to a constant; none: its bounds are not known.
  std::optional<Polynomial> round_of(Symbol loop) const;
  // Whether any of the loop's rounds change the value.
  bool changes_with(const Polynomial& value, Symbol loop) const;
  // How many rounds a loop makes for one thread.
  std::optional<Polynomial> rounds(Symbol loop) const;
  // The same of loops inside one another, for the thread that makes most.
  std::optional<Polynomial> rounds_of(const std::vector<Symbol>& loops) const;

 private:
  using Parts = std::set<std::string>;
  struct Facts {
    Kind kind = Kind::kUniform;
    std::string name;
    Polynomial value, divisor, end;
    std::vector<Symbol> inputs;
    std::optional<Polynomial> limit;
    bool single = false;
    Parts parts;  // where it comes from; empty: uniform
    bool loaded = false;
  };

  Symbol add(Facts facts);
  Parts parts_of(const Polynomial& value) const;
  static bool covered(const std::string& part, const Parts& by);
  static bool covered(const Parts& parts, const Parts& by);
  std::optional<Polynomial> span(Symbol symbol) const;
  Polynomial step(Symbol symbol) const;
  Polynomial split(const Polynomial& value, const Polynomial& divisor, Kind kind);
  Parts parts_of_split(const Polynomial& value, const Polynomial& divisor, Kind kind) const;
  bool is_built_from(Symbol symbol, Symbol part) const;
  std::optional<Polynomial> fixed(const Polynomial& end, bool average) const;
  std::optional<Polynomial> lane_stride(Symbol symbol) const;
  std::optional<std::string> lane_text_of(Symbol symbol) const;
  std::optional<std::string> lane_text_of(const Polynomial& value) const;
  std::optional<Polynomial> rest_of_bases(const Parts& done) const;

  std::vector<Facts> facts_;
  std::map<std::string, Symbol, std::less<>> uniforms_, bases_;
  std::map<std::string, std::vector<Symbol>> splits_;  // by their text
  std::map<std::string, Polynomial> divisors_;         // by their text
  mutable IndexWork depth_;
};

}  // namespace fathom
