#include "scan/accesses/index_space.h"

#include <algorithm>
#include <cmath>

#include "base/text_parts.h"
#include "scan/accesses/index_parts.h"

namespace fathom {

Symbol IndexSpace::add(Facts facts) {
  // What depends on very many things is taken to be one of its own.
  constexpr size_t kMaxParts = 48;
  if (facts.parts.size() > kMaxParts) facts.parts = {"many " + std::to_string(facts_.size())};
  facts_.push_back(std::move(facts));
  return static_cast<Symbol>(facts_.size() - 1);
}

Symbol IndexSpace::uniform(std::string_view name) {
  if (const auto known = uniforms_.find(name); known != uniforms_.end()) return known->second;
  Facts facts;
  facts.name = name;
  const Symbol symbol = add(std::move(facts));
  uniforms_.emplace(name, symbol);
  return symbol;
}

Symbol IndexSpace::base(std::string_view name, const Polynomial& extent) {
  if (const auto known = bases_.find(name); known != bases_.end()) return known->second;
  Facts facts;
  facts.kind = Kind::kBase;
  facts.name = name;
  facts.end = extent;
  facts.parts = {std::string(name)};
  const Symbol symbol = add(std::move(facts));
  bases_.emplace(name, symbol);
  return symbol;
}

Symbol IndexSpace::variable(std::string_view name, Polynomial value) {
  Facts facts;
  facts.kind = Kind::kVariable;
  facts.name = name;
  facts.parts = parts_of(value);
  facts.loaded = depends_on_load(value);
  facts.value = std::move(value);
  return add(std::move(facts));
}

Symbol IndexSpace::loop(std::string_view name, Polynomial start, Polynomial step, Polynomial end) {
  Facts facts;
  facts.kind = Kind::kLoop;
  facts.name = name;
  facts.parts = parts_of(start);
  facts.parts.insert("loop " + std::to_string(facts_.size()));
  facts.value = std::move(start);
  facts.divisor = std::move(step);
  facts.end = std::move(end);
  return add(std::move(facts));
}

Symbol IndexSpace::computed(std::string name, const std::vector<Symbol>& inputs, bool loaded,
                            std::optional<Polynomial> end) {
  Facts facts;
  facts.limit = std::move(end);
  facts.kind = loaded ? Kind::kLoaded : Kind::kComputed;
  facts.loaded = loaded;
  for (const Symbol input : inputs) {
    facts.parts.insert(facts_[input].parts.begin(), facts_[input].parts.end());
    facts.loaded = facts.loaded || facts_[input].loaded;
  }
  if (facts.parts.empty() && !loaded) return uniform(name);
  facts.name = std::move(name);
  facts.inputs = inputs;
  return add(std::move(facts));
}

Polynomial IndexSpace::divided(const Polynomial& value, const Polynomial& divisor) {
  if (is_uniform(value) || value.is_zero()) {
    if (auto exact = value.divided_by(divisor)) return *exact;
    return Polynomial::symbol(uniform(joined(text(value), "/", text(divisor))));
  }
  return split(value, divisor, Kind::kDivided);
}

std::string IndexSpace::joined(const std::string& a, std::string_view op, const std::string& b) {
  constexpr size_t kLongestName = 200;
  if (a.size() + b.size() > kLongestName) return "…";
  return "((" + a + ") " + std::string(op) + " (" + b + "))";
}

Polynomial IndexSpace::remainder(const Polynomial& value, const Polynomial& divisor) {
  if (is_uniform(value))
    return Polynomial::symbol(uniform(joined(text(value), "%", text(divisor))));
  return split(value, divisor, Kind::kRemainder);
}

Polynomial IndexSpace::split(const Polynomial& value, const Polynomial& divisor, Kind kind) {
  constexpr size_t kLongestName = 200;
  if (text(value).size() > kLongestName) {  // hashes and the like: no index that could be followed
    return Polynomial::symbol(computed("…", varying(value), depends_on_load(value)));
  }
  Facts facts;
  facts.kind = kind;
  facts.name =
      "(" + text(value) + ") " + (kind == Kind::kDivided ? "/" : "%") + " (" + text(divisor) + ")";
  facts.loaded = depends_on_load(value);
  // The same split of the same value is the same symbol, so that it can be told that they are.
  for (const Symbol known : splits_[facts.name]) {
    if (facts_[known].kind == kind && facts_[known].value == value)
      return Polynomial::symbol(known);
  }
  facts.parts = parts_of_split(value, divisor, kind);
  divisors_[text(divisor)] = divisor;
  facts.value = value;
  facts.divisor = divisor;
  const std::string name = facts.name;
  const Symbol symbol = add(std::move(facts));
  // Names of variables that hide one another are the same in many splits.
  constexpr size_t kMaxAlike = 24;
  if (splits_[name].size() < kMaxAlike) splits_[name].push_back(symbol);
  return Polynomial::symbol(symbol);
}

// Of (blockIdx.x * 128 + threadIdx.x) / 32 the block is a part as a whole, and none of the rest.
IndexSpace::Parts IndexSpace::parts_of_split(const Polynomial& value, const Polynomial& divisor,
                                             Kind kind) const {
  const Deeper deeper(depth_);
  if (!divisor.is_single_term() || !is_uniform(divisor) || deeper.too_deep())
    return parts_of(value);
  if (const auto symbol = value.as_symbol(); symbol && facts_[*symbol].kind == Kind::kVariable) {
    return parts_of_split(facts_[*symbol].value, divisor, kind);
  }
  const std::string suffix = (kind == Kind::kDivided ? kQuotient : kRest) + text(divisor);
  Parts out;
  for (const auto& [product, factor] : value.terms()) {
    const Polynomial term = Polynomial::term(product, factor);
    const Parts parts = parts_of(term);
    if (parts.empty()) continue;
    const auto ratio = term.divided_by(divisor);
    const auto& [above, number] = *ratio->terms().begin();
    const bool multiple =
        std::floor(number) == number &&
        std::all_of(above.begin(), above.end(), [](const auto& one) { return one.second > 0; });
    if (multiple && kind == Kind::kDivided) out.insert(parts.begin(), parts.end());
    if (multiple) continue;
    for (const std::string& part : parts) out.insert(part + suffix);
  }
  return out;
}

std::string IndexSpace::text(const Polynomial& value) const {
  return value.text([this](Symbol symbol) { return facts_[symbol].name; });
}

bool IndexSpace::is_uniform(const Polynomial& value) const { return varying(value).empty(); }

bool IndexSpace::depends_on_load(const Polynomial& value) const {
  for (const auto& [product, factor] : value.terms()) {
    for (const auto& [symbol, power] : product) {
      if (facts_[symbol].loaded) return true;
    }
  }
  return false;
}

bool IndexSpace::depends_on_varying_load(const Polynomial& value) const {
  for (const auto& [product, factor] : value.terms()) {
    for (const auto& [symbol, power] : product) {
      if (facts_[symbol].loaded && !facts_[symbol].parts.empty()) return true;
    }
  }
  return false;
}

std::vector<Symbol> IndexSpace::varying(const Polynomial& value) const {
  std::vector<Symbol> out;
  for (const auto& [product, factor] : value.terms()) {
    for (const auto& [symbol, power] : product) {
      const Kind kind = facts_[symbol].kind;
      const bool varies = kind == Kind::kLoaded || !facts_[symbol].parts.empty();
      if (varies && !contains(out, symbol)) out.push_back(symbol);
    }
  }
  return out;
}

IndexSpace::Saved IndexSpace::limit(Symbol symbol, Polynomial end) {
  Saved saved{symbol, facts_[symbol].limit, facts_[symbol].single};
  // `if (threadIdx.x >= C) return;` leaves no more threads than the block has.
  if (facts_[symbol].name.starts_with("threadIdx") && !end.as_constant() && is_uniform(end)) {
    const Polynomial& all = facts_[symbol].end;
    if (!(end == all))
      end = Polynomial::symbol(uniform("min(" + text(all) + ", " + text(end) + ")"));
  }
  facts_[symbol].limit = std::move(end);
  return saved;
}

IndexSpace::Saved IndexSpace::single(Symbol symbol) {
  Saved saved{symbol, facts_[symbol].limit, facts_[symbol].single};
  facts_[symbol].single = true;
  return saved;
}

void IndexSpace::restore(Saved saved) {
  facts_[saved.symbol].limit = std::move(saved.limit);
  facts_[saved.symbol].single = saved.single;
}

IndexSpace::Parts IndexSpace::parts_of(const Polynomial& value) const {
  Parts out;
  for (const Symbol symbol : varying(value)) {
    out.insert(facts_[symbol].parts.begin(), facts_[symbol].parts.end());
  }
  return out;
}

// A part is covered by itself, by what it is a part of, or by its two halves.
bool IndexSpace::covered(const std::string& part, const Parts& by) {
  for (const std::string& other : by) {
    if (part.starts_with(other) &&
        (part.size() == other.size() || part[other.size()] == kQuotient ||
         part[other.size()] == kRest)) {
      return true;
    }
    const bool half = other.size() > part.size() && other.starts_with(part) &&
                      other[part.size()] == kQuotient &&
                      other.find_first_of(kEither, part.size() + 1) == std::string::npos;
    if (!half) continue;
    std::string second = other;
    second[part.size()] = kRest;
    if (by.contains(second)) return true;
  }
  return false;
}

bool IndexSpace::covered(const Parts& parts, const Parts& by) {
  return std::all_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return covered(part, by); });
}

Polynomial IndexSpace::without_names(Polynomial value) const {
  constexpr int kMostNames = 16;
  constexpr size_t kMostTerms = 24;
  for (int names = 0; names < kMostNames; ++names) {
    const std::vector<Symbol> symbols = varying(value);
    const auto name = std::ranges::find_if(
        symbols, [&](Symbol one) { return facts_[one].kind == Kind::kVariable; });
    if (name == symbols.end()) return value;
    Polynomial out;
    for (const auto& [product, factor] : value.terms()) {
      const Polynomial term = Polynomial::term(product, factor);
      const auto uses = std::ranges::find(product, *name, &std::pair<Symbol, int>::first);
      if (uses == product.end()) {
        out = out + term;
        continue;
      }
      if (uses->second != 1) return value;
      out = out + *term.divided_by(Polynomial::symbol(*name)) * facts_[*name].value;
    }
    if (out.terms().size() > kMostTerms) return value;
    value = std::move(out);
  }
  return value;
}

std::string IndexSpace::shape_of(const Polynomial& value) const {
  return value.text([this](Symbol symbol) {
    const Facts& facts = facts_[symbol];
    if (facts.kind != Kind::kLoop) return facts.name;
    const Polynomial end = facts.limit ? *facts.limit : facts.end;
    return "[" + text(without_names(facts.value)) + ":" + text(end) + ":" + text(facts.divisor) +
           "]";
  });
}

Polynomial IndexSpace::uniform_part(const Polynomial& value) const {
  Polynomial out;
  for (const auto& [product, factor] : value.terms()) {
    const Polynomial term = Polynomial::term(product, factor);
    if (is_uniform(term)) out = out + term;
  }
  return out;
}

bool IndexSpace::is_built_from(Symbol symbol, Symbol part) const {
  const Deeper deeper(depth_);
  if (symbol == part) return true;
  if (deeper.too_deep() || symbol < part) return false;
  const Facts& facts = facts_[symbol];
  for (const Symbol input : facts.inputs) {
    if (is_built_from(input, part)) return true;
  }
  for (const Symbol input : varying(facts.value)) {
    if (is_built_from(input, part)) return true;
  }
  return false;
}

bool IndexSpace::is_at_most(const Polynomial& value) const {
  const Deeper deeper(depth_);
  if (deeper.too_deep()) return true;
  for (const Symbol symbol : varying(value)) {
    const Facts& facts = facts_[symbol];
    if (facts.kind == Kind::kComputed && (facts.inputs.size() > 1 || facts.limit)) return true;
    const bool made = facts.kind == Kind::kVariable || facts.kind == Kind::kDivided ||
                      facts.kind == Kind::kRemainder || facts.kind == Kind::kLoop;
    if (made && is_at_most(facts.value)) return true;
  }
  return false;
}

std::optional<Polynomial> IndexSpace::round_of(Symbol loop) const {
  const Facts& facts = facts_[loop];
  if (facts.kind != Kind::kLoop || facts.divisor.is_zero() || !is_uniform(facts.value))
    return std::nullopt;
  return Polynomial::symbol(loop).divided_by(facts.divisor);
}

bool IndexSpace::changes_with(const Polynomial& value, Symbol loop) const {
  const std::vector<Symbol> symbols = varying(value);
  return std::any_of(symbols.begin(), symbols.end(),
                     [&](Symbol symbol) { return is_built_from(symbol, loop); });
}

}  // namespace fathom
