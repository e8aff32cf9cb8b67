// How many values an index takes, and how often code runs.
#include <algorithm>
#include <cmath>

#include "scan/accesses/index_parts.h"
#include "scan/accesses/index_space.h"

namespace fathom {
namespace {

constexpr size_t kMaxExtentTerms = 24;

}  // namespace

std::optional<Polynomial> IndexSpace::span(Symbol symbol) const {
  const Deeper deeper(depth_);
  if (deeper.too_deep()) return std::nullopt;
  const Facts& facts = facts_[symbol];
  if (facts.single) return Polynomial::constant(1);
  if (facts.limit) return fixed(*facts.limit, true);
  switch (facts.kind) {
    case Kind::kUniform:
      return Polynomial::constant(1);
    case Kind::kBase:
      return facts.end;
    case Kind::kVariable:
      return span_of(facts.value);
    case Kind::kDivided: {
      const auto whole = span_of(facts.value);
      return whole ? whole->divided_by(facts.divisor) : std::nullopt;
    }
    case Kind::kRemainder:
      return facts.divisor;
    case Kind::kLoop: {
      return fixed(facts.end - uniform_part(facts.value), true);
    }
    case Kind::kComputed:
    case Kind::kLoaded:
      return std::nullopt;  // how many they are is known, not where they lie
  }
  return std::nullopt;
}

// An end that differs between threads, as `i <= t`: on average half of its largest value.
std::optional<Polynomial> IndexSpace::fixed(const Polynomial& end, bool average) const {
  const Deeper deeper(depth_);
  if (is_uniform(end)) return end;
  Polynomial out;
  for (const auto& [product, factor] : end.terms()) {
    Polynomial term = Polynomial::term(product, factor);
    for (const Symbol symbol : varying(term)) {
      // How many values a table holds says nothing of how large they are.
      const bool located = !deeper.too_deep() && is_located(Polynomial::symbol(symbol));
      const auto largest = located ? span(symbol) : std::nullopt;
      const auto around = term.divided_by(Polynomial::symbol(symbol));
      if (!largest || !around) return std::nullopt;
      term = *around * *largest * Polynomial::constant(average ? 0.5 : 1);
    }
    out = out + term;
  }
  return out;
}

Polynomial IndexSpace::step(Symbol symbol) const {
  const Deeper deeper(depth_);
  const Facts& facts = facts_[symbol];
  if (deeper.too_deep() || facts.single) return Polynomial::constant(1);
  switch (facts.kind) {
    case Kind::kVariable:
      return step_of(facts.value);
    case Kind::kDivided: {
      // Of (blockIdx.x * n) / 2 the values lie n / 2 apart, of (blockIdx.x * 128) / 32 four.
      const auto apart = step_of(facts.value).divided_by(facts.divisor);
      if (!apart || !apart->is_single_term()) return Polynomial::constant(1);
      const auto& [above, number] = *apart->terms().begin();
      const bool whole = above.empty() ? std::floor(number) == number
                                       : std::ranges::all_of(
                                             above, [](const auto& one) { return one.second > 0; });
      return whole ? *apart : Polynomial::constant(1);
    }
    case Kind::kRemainder:
      // Values that wrap around keep only what divides the whole turn too.
      return Polynomial::common_factor(step_of(facts.value), facts.divisor);
    case Kind::kLoop:
      if (is_uniform(facts.value)) return facts.divisor;
      return step_of(facts.value);
    default:
      return Polynomial::constant(1);
  }
}

// The greatest number that all differences of its values are multiples of.
Polynomial IndexSpace::step_of(const Polynomial& value) const {
  std::optional<Polynomial> common;
  for (const auto& [product, factor] : value.terms()) {
    const Polynomial term = Polynomial::term(product, factor);
    const std::vector<Symbol> symbols = varying(term);
    if (symbols.empty()) continue;
    if (symbols.size() != 1) return Polynomial::constant(1);
    const auto around = term.divided_by(Polynomial::symbol(symbols[0]));
    const Polynomial one = *around * step(symbols[0]);
    common = common ? Polynomial::common_factor(*common, one) : Polynomial::common_factor(one, one);
  }
  return common.value_or(Polynomial::constant(1));
}

std::optional<Polynomial> IndexSpace::extent(Symbol symbol) const {
  const Facts& facts = facts_[symbol];
  if (facts.kind == Kind::kComputed || facts.kind == Kind::kLoaded) {
    if (facts.single) return Polynomial::constant(1);
    Polynomial inputs;
    for (const Symbol input : facts.inputs) inputs = inputs + Polynomial::symbol(input);
    auto count = footprint(inputs);
    // min(n - 1, …) takes no more values than that.
    if (facts.limit && is_uniform(*facts.limit)) {
      Polynomial most = *facts.limit + Polynomial::constant(1);
      if (!count || count->covers(most)) return most;
    }
    return count;
  }
  const auto range = span(symbol);
  if (!range) return std::nullopt;
  const Polynomial by = step(symbol);
  auto count = facts.single ? range : range->divided_by(by);
  if (!count || facts.single || facts.kind != Kind::kLoop || is_uniform(facts.value)) return count;
  // Threads that start side by side and together fill a part of each step skip the rest of it.
  const auto filled = span_of(facts.value);
  const auto parts = filled ? facts.divisor.divided_by(*filled) : std::nullopt;
  const auto skipped = parts ? parts->as_constant() : std::nullopt;
  if (!skipped || *skipped <= 1) return count;
  return *count * Polynomial::constant(1 / *skipped);
}

bool IndexSpace::is_located(const Polynomial& value) const {
  const Deeper deeper(depth_);
  return !deeper.too_deep() && std::ranges::all_of(varying(value), [&](Symbol one) {
    const Kind kind = facts_[one].kind;
    const bool made = kind == Kind::kVariable || kind == Kind::kDivided;
    return made && !facts_[one].limit ? is_located(facts_[one].value) : span(one).has_value();
  });
}

std::optional<Polynomial> IndexSpace::span_of(const Polynomial& value) const {
  if (const auto symbol = value.as_symbol()) return span(*symbol);
  const auto count = footprint(value);
  if (!count) return std::nullopt;
  return *count * step_of(value);
}

std::optional<Polynomial> IndexSpace::footprint(const Polynomial& value) const {
  const Deeper deeper(depth_);
  if (deeper.too_deep()) return std::nullopt;
  std::vector<Symbol> symbols = varying(value);
  // What is computed from another of them alone adds no values: idx % C beside idx.
  std::erase_if(symbols, [&](Symbol one) {
    return std::any_of(symbols.begin(), symbols.end(), [&](Symbol other) {
      return other != one && is_built_from(one, other) &&
             covered(facts_[one].parts, facts_[other].parts);
    });
  });
  Polynomial out = Polynomial::constant(1);
  for (const Symbol symbol : symbols) {
    auto count = extent(symbol);
    if (!count) return std::nullopt;
    const Facts& facts = facts_[symbol];
    // A triangle's other side must be part of the index, or all of it is touched by somebody.
    if (facts.kind == Kind::kLoop && !is_uniform(facts.end) && !facts.limit) {
      const Parts of_end = parts_of(facts.end);
      const bool both = std::any_of(symbols.begin(), symbols.end(), [&](Symbol other) {
        return other != symbol && covered(of_end, facts_[other].parts);
      });
      const auto whole = both ? std::nullopt : fixed(facts.end, false);
      if (whole) count = whole->divided_by(step(symbol));
      if (!count) return std::nullopt;
    }
    out = out * *count;
    if (out.terms().size() > kMaxExtentTerms) return std::nullopt;
  }
  return out;
}

std::optional<Polynomial> IndexSpace::rounds(Symbol loop) const {
  const Facts& facts = facts_[loop];
  const auto range = span(loop);
  return range ? range->divided_by(facts.divisor) : std::nullopt;
}

std::optional<Polynomial> IndexSpace::rounds_of(const std::vector<Symbol>& loops) const {
  Polynomial out = Polynomial::constant(1);
  for (const Symbol loop : loops) {
    const Facts& facts = facts_[loop];
    const auto range = facts.limit ? fixed(*facts.limit, false)
                                   : fixed(facts.end - uniform_part(facts.value), false);
    const auto count = range ? range->divided_by(facts.divisor) : std::nullopt;
    if (!count) return std::nullopt;
    out = out * *count;
    if (out.terms().size() > kMaxExtentTerms) return std::nullopt;
  }
  return out;
}

std::optional<Polynomial> IndexSpace::times(const std::vector<Symbol>& loops,
                                            const std::vector<Symbol>& guarded) const {
  Polynomial out = Polynomial::constant(1);
  Parts done;
  const auto take = [&](Symbol symbol) {
    const Facts& facts = facts_[symbol];
    const bool begun = std::any_of(facts.parts.begin(), facts.parts.end(), [&](const auto& part) {
      return covered(part, done) ||
             std::any_of(done.begin(), done.end(),
                         [&](const std::string& d) { return d.starts_with(part); });
    });
    const auto count = begun && facts.kind == Kind::kLoop ? rounds(symbol) : extent(symbol);
    if (begun && (facts.kind != Kind::kLoop || covered(facts.parts, done))) return true;
    if (!count) return false;
    out = out * *count;
    done.insert(facts.parts.begin(), facts.parts.end());
    return true;
  };
  // A loop that begins at the thread's own place counts threads and rounds together.
  for (const Symbol symbol : guarded) {
    if (facts_[symbol].kind != Kind::kLoop && !take(symbol)) return std::nullopt;
  }
  for (const Symbol symbol : loops) {
    if (!take(symbol)) return std::nullopt;
  }
  const auto rest = rest_of_bases(done);
  if (!rest) return std::nullopt;
  out = out * *rest;
  return out.terms().size() > kMaxExtentTerms ? std::nullopt : std::optional(out);
}

// What of the threads' coordinates no guard and no loop has counted.
std::optional<Polynomial> IndexSpace::rest_of_bases(const Parts& done) const {
  Polynomial out = Polynomial::constant(1);
  // Halves whose other half is counted: how many values those have. A remainder is shared by all
  // coordinates that the divided sum is made of.
  std::map<std::string, Polynomial> missing;
  for (const auto& [name, symbol] : bases_) {
    if (covered(name, done)) continue;
    bool part_of_it = false;
    for (const std::string& part : done) {
      if (!part.starts_with(name) || part.size() <= name.size()) continue;
      const char joint = part[name.size()];
      if (joint != kQuotient && joint != kRest) continue;
      part_of_it = true;
      const size_t end = part.find_first_of(kEither, name.size() + 1);
      const std::string key =
          part.substr(name.size() + 1, end == std::string::npos ? end : end - name.size() - 1);
      const auto divisor = divisors_.find(key);
      if (divisor == divisors_.end()) return std::nullopt;
      if (joint == kQuotient) {
        // The lane of a warp is counted once, whichever coordinate it was taken of.
        const std::string rest = kRest + key;
        const bool counted = std::any_of(done.begin(), done.end(), [&](const std::string& other) {
          return other.ends_with(rest);
        });
        if (!counted) missing[rest] = divisor->second;
        continue;
      }
      const auto whole = extent(symbol);
      const auto groups = whole ? whole->divided_by(divisor->second) : std::nullopt;
      if (!groups) return std::nullopt;
      missing[name + kQuotient + key] = *groups;
    }
    if (part_of_it) continue;
    const auto count = extent(symbol);
    if (!count) return std::nullopt;
    out = out * *count;
  }
  for (const auto& [half, count] : missing) out = out * count;
  return out;
}

std::optional<Polynomial> IndexSpace::upper_bound(const Polynomial& value) const {
  const Polynomial* at = &value;
  while (!is_uniform(*at)) {
    const auto symbol = at->as_symbol();
    if (!symbol) return std::nullopt;
    const Facts& facts = facts_[*symbol];
    if (facts.kind != Kind::kVariable)
      return facts.kind == Kind::kComputed ? facts.limit : std::nullopt;
    at = &facts.value;  // an earlier symbol's: no circle
  }
  return *at;
}

}  // namespace fathom
