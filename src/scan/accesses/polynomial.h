#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fathom {

using Symbol = uint32_t;  // a name; whoever makes polynomials numbers them

// A sum of products of names: what index expressions and numbers of elements are made of.
// Exponents may be negative: a division by one term is taken as exact, as code means it where it
// shares out work.
class Polynomial {
 public:
  using Product = std::vector<std::pair<Symbol, int>>;  // in order of the symbols, no exponent 0

  Polynomial() = default;  // 0
  static Polynomial constant(double value);
  static Polynomial symbol(Symbol name);
  static Polynomial term(Product product, double factor);

  const std::map<Product, double>& terms() const { return terms_; }
  bool is_zero() const { return terms_.empty(); }
  std::optional<double> as_constant() const;
  std::optional<Symbol> as_symbol() const;  // where it is one name and nothing else
  bool is_single_term() const { return terms_.size() == 1; }

  Polynomial operator+(const Polynomial& other) const;
  Polynomial operator-(const Polynomial& other) const;
  Polynomial operator*(const Polynomial& other) const;
  // None where the divisor is not one term.
  std::optional<Polynomial> divided_by(const Polynomial& divisor) const;
  bool operator==(const Polynomial& other) const = default;

  // The greatest term that divides both, which are one term each.
  static Polynomial common_factor(const Polynomial& a, const Polynomial& b);
  // Whether it is at least as large as another for all names from 1 on.
  bool covers(const Polynomial& other) const;
  // "B * T * C / 4 + N".
  // The largest sum of powers in a term, whatever their signs.
  int degree() const;
  std::string text(const std::function<std::string(Symbol)>& name) const;

 private:
  std::map<Product, double> terms_;
};

}  // namespace fathom
