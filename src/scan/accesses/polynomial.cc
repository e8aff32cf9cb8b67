#include "scan/accesses/polynomial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fathom {
namespace {

Polynomial::Product multiply(const Polynomial::Product& a, const Polynomial::Product& b, int sign) {
  std::map<Symbol, int> powers(a.begin(), a.end());
  for (const auto& [symbol, power] : b) powers[symbol] += sign * power;
  std::erase_if(powers, [](const auto& one) { return one.second == 0; });
  return {powers.begin(), powers.end()};
}

double common_divisor(double a, double b) {
  const bool whole =
      std::floor(a) == a && std::floor(b) == b && std::abs(a) < 1e15 && std::abs(b) < 1e15;
  if (!whole) return 1;
  return static_cast<double>(
      std::gcd(static_cast<int64_t>(std::abs(a)), static_cast<int64_t>(std::abs(b))));
}

}  // namespace

Polynomial Polynomial::constant(double value) { return term({}, value); }
Polynomial Polynomial::symbol(Symbol name) { return term({{name, 1}}, 1); }

Polynomial Polynomial::term(Product product, double factor) {
  Polynomial out;
  if (factor != 0) out.terms_.emplace(std::move(product), factor);
  return out;
}

std::optional<double> Polynomial::as_constant() const {
  if (terms_.empty()) return 0;
  if (terms_.size() == 1 && terms_.begin()->first.empty()) return terms_.begin()->second;
  return std::nullopt;
}

std::optional<Symbol> Polynomial::as_symbol() const {
  if (terms_.size() != 1 || terms_.begin()->second != 1) return std::nullopt;
  const Product& product = terms_.begin()->first;
  if (product.size() != 1 || product[0].second != 1) return std::nullopt;
  return product[0].first;
}

int Polynomial::degree() const {
  int highest = 0;
  for (const auto& [product, factor] : terms_) {
    int sum = 0;
    for (const auto& [symbol, power] : product) sum += std::abs(power);
    highest = std::max(highest, sum);
  }
  return highest;
}

Polynomial Polynomial::operator+(const Polynomial& other) const {
  Polynomial out = *this;
  for (const auto& [product, factor] : other.terms_) {
    const auto known = out.terms_.emplace(product, 0).first;
    known->second += factor;
    if (known->second == 0) out.terms_.erase(known);
  }
  return out;
}

Polynomial Polynomial::operator-(const Polynomial& other) const {
  return *this + other * constant(-1);
}

Polynomial Polynomial::operator*(const Polynomial& other) const {
  Polynomial out;
  for (const auto& [a, x] : terms_) {
    for (const auto& [b, y] : other.terms_) out = out + term(multiply(a, b, 1), x * y);
  }
  return out;
}

std::optional<Polynomial> Polynomial::divided_by(const Polynomial& divisor) const {
  if (!divisor.is_single_term()) return std::nullopt;
  const auto& [product, factor] = *divisor.terms_.begin();
  Polynomial out;
  for (const auto& [a, x] : terms_) out = out + term(multiply(a, product, -1), x / factor);
  return out;
}

Polynomial Polynomial::common_factor(const Polynomial& a, const Polynomial& b) {
  if (!a.is_single_term() || !b.is_single_term()) return constant(1);
  const auto& [product, x] = *a.terms_.begin();
  const auto& [other, y] = *b.terms_.begin();
  if (product == other) return term(product, x == y ? std::abs(x) : common_divisor(x, y));
  const std::map<Symbol, int> powers(other.begin(), other.end());
  Product common;
  for (const auto& [symbol, power] : product) {
    const auto found = powers.find(symbol);
    const int least = found == powers.end() ? 0 : std::min(power, found->second);
    if (least > 0) common.emplace_back(symbol, least);
  }
  const double factor = product == other && x == y ? std::abs(x) : common_divisor(x, y);
  return term(std::move(common), factor == 0 ? 1 : factor);
}

bool Polynomial::covers(const Polynomial& other) const {
  // Each of the other's terms needs one of ours, not used for another, that is no smaller.
  if (other.terms_.size() > terms_.size()) return false;
  std::map<Product, double> left = terms_;
  for (const auto& [product, factor] : other.terms_) {
    const auto fits = std::find_if(left.begin(), left.end(), [&](const auto& own) {
      const Product ratio = multiply(own.first, product, -1);
      return own.second >= factor && std::all_of(ratio.begin(), ratio.end(),
                                                 [](const auto& one) { return one.second > 0; });
    });
    if (fits == left.end()) return false;
    left.erase(fits);
  }
  return true;
}

std::string Polynomial::text(const std::function<std::string(Symbol)>& name) const {
  if (terms_.empty()) return "0";
  std::string out;
  for (const auto& [product, factor] : terms_) {
    std::string above, below;
    double shown = std::abs(factor);
    const bool fraction = shown < 1 && std::floor(1 / shown) == 1 / shown;
    if (fraction) {
      below += fmt::format(" / {:g}", 1 / shown);
      shown = 1;
    }
    for (const auto& [symbol, power] : product) {
      for (int i = 0; i < std::abs(power); ++i) {
        std::string text = name(symbol);
        if (power < 0 && text.find_first_of(" +-*/") != std::string::npos) text = "(" + text + ")";
        (power > 0 ? above : below) += (power > 0 ? " * " : " / ") + text;
      }
    }
    std::string written =
        shown == 1 && !above.empty() ? above.substr(3) : fmt::format("{:.15g}", shown) + above;
    written += below;
    if (out.empty()) {
      out = (factor < 0 ? "-" : "") + written;
    } else {
      out += (factor < 0 ? " - " : " + ") + written;
    }
  }
  return out;
}

}  // namespace fathom
