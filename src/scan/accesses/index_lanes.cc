// Which elements the threads of a warp take together.
#include <algorithm>

#include "scan/accesses/index_parts.h"
#include "scan/accesses/index_space.h"

namespace fathom {

// Of several the innermost: the one that is not the whole length of another.
Polynomial IndexSpace::lane_step(const Polynomial& value) const {
  struct Part {
    Polynomial step;
    std::optional<Polynomial> span;
    bool of_lane = false;
  };
  std::vector<Part> parts;
  for (const auto& [product, factor] : value.terms()) {
    const Polynomial term = Polynomial::term(product, factor);
    if (is_uniform(term)) continue;
    const auto stride = lane_stride(term);
    parts.push_back({step_of(term), span_of(term), stride && !stride->is_zero()});
  }
  const auto is_length = [&](const Polynomial& step) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const Part& part) { return part.span && *part.span == step; });
  };
  const Part* best = nullptr;
  for (const Part& part : parts) {
    if (is_length(part.step)) continue;
    if (best == nullptr || (part.of_lane && !best->of_lane)) best = &part;
  }
  return best == nullptr ? step_of(value) : best->step;
}

std::optional<std::string> IndexSpace::lane_text_of(Symbol symbol) const {
  const Deeper deeper(depth_);
  if (deeper.too_deep()) return std::nullopt;
  const Facts& facts = facts_[symbol];
  if (facts.single || facts.kind == Kind::kUniform) return "0";
  const bool of_lane = std::any_of(facts.parts.begin(), facts.parts.end(), [](const auto& part) {
    return part.starts_with("threadIdx.x") || part.starts_with("lane");
  });
  if (!of_lane) return "0";
  switch (facts.kind) {
    case Kind::kBase:
      return facts.name;
    case Kind::kVariable:
    case Kind::kLoop:
      return lane_text_of(facts.value);
    case Kind::kDivided:
    case Kind::kRemainder: {
      auto of_value = lane_text_of(facts.value);
      if (!of_value || *of_value == "0") return of_value;
      return "((" + *of_value + ") " + (facts.kind == Kind::kDivided ? "/" : "%") + " (" +
             text(facts.divisor) + "))";
    }
    default:
      return std::nullopt;
  }
}

std::optional<std::string> IndexSpace::lane_text_of(const Polynomial& value) const {
  std::string out;
  for (const auto& [product, factor] : value.terms()) {
    const Polynomial term = Polynomial::term(product, factor);
    const std::vector<Symbol> symbols = varying(term);
    Polynomial around = term;
    std::string lanes;
    for (const Symbol symbol : symbols) {
      const auto of_symbol = lane_text_of(symbol);
      const auto rest = around.divided_by(Polynomial::symbol(symbol));
      if (!of_symbol || !rest) return std::nullopt;
      around = *rest;
      lanes += (lanes.empty() ? "" : " * ") + *of_symbol;
    }
    if (symbols.empty() || lanes == "0") continue;
    if (!out.empty()) out += " + ";
    out += around == Polynomial::constant(1) ? lanes : "(" + text(around) + ") * " + lanes;
  }
  return out.empty() ? "0" : out;
}

std::string IndexSpace::lane_text(const Polynomial& value) const {
  constexpr size_t kLongest = 240;
  const auto found = lane_text_of(value);
  return found && found->size() <= kLongest ? *found : "";
}

std::optional<Polynomial> IndexSpace::lane_stride(Symbol symbol) const {
  const Deeper deeper(depth_);
  if (deeper.too_deep()) return std::nullopt;
  const Facts& facts = facts_[symbol];
  if (facts.single) return Polynomial();
  switch (facts.kind) {
    case Kind::kUniform:
      return Polynomial();
    case Kind::kBase:
      return facts.name == "threadIdx.x" || facts.name.starts_with("lane") ? Polynomial::constant(1)
                                                                           : Polynomial();
    case Kind::kVariable:
    case Kind::kLoop:
      return lane_stride(facts.value);
    case Kind::kRemainder:
      return lane_stride(facts.value);
    case Kind::kDivided: {
      auto of_value = lane_stride(facts.value);
      if (!of_value || of_value->is_zero()) return of_value;
      const auto divisor = facts.divisor.as_constant();
      // Neighbours share the quotient where the divisor is a warp or more; names such as C and
      // WARP_SIZE are taken to be, what is shifted (1 << stage) goes through all sizes.
      if (divisor ? *divisor < 32 : text(facts.divisor).find("<<") != std::string::npos)
        return std::nullopt;
      return Polynomial();
    }
    case Kind::kComputed:
    case Kind::kLoaded:
      for (const Symbol input : facts.inputs) {
        const auto of_input = lane_stride(input);
        if (!of_input || !of_input->is_zero()) return std::nullopt;
      }
      return Polynomial();
  }
  return std::nullopt;
}

std::optional<Polynomial> IndexSpace::lane_stride(const Polynomial& value) const {
  Polynomial out;
  for (const auto& [product, factor] : value.terms()) {
    const Polynomial term = Polynomial::term(product, factor);
    const std::vector<Symbol> symbols = varying(term);
    if (symbols.empty()) continue;
    if (symbols.size() != 1) {
      for (const Symbol symbol : symbols) {
        const auto stride = lane_stride(symbol);
        if (!stride || !stride->is_zero()) return std::nullopt;
      }
      continue;
    }
    const auto stride = lane_stride(symbols[0]);
    const auto around = term.divided_by(Polynomial::symbol(symbols[0]));
    if (!stride) return std::nullopt;
    if (stride->is_zero()) continue;
    if (!around || !is_uniform(*around)) return std::nullopt;
    out = out + *around * *stride;
  }
  return out;
}

}  // namespace fathom
