// A size that is not known yet: a polynomial with integer coefficients over named symbols, such as 64*s0*s1 + 2*s0 - 3.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace megakittens::ir {

/// The value of each symbol, by name.
using SymbolValues = std::map<std::string, std::int64_t>;

/// A letter or underscore, then letters, digits, underscores; at most 64 characters.
bool is_symbol_name(std::string_view text);

/// Sizes and offsets are affine; strides of dense tensors with several symbolic sizes are products, hence polynomials.
/// Kept in one canonical form, so that equal polynomials compare equal and print alike.
class Expression {
 public:
  Expression() = default;  ///< 0
  explicit Expression(std::int64_t constant);
  /// Integers and names, joined by *, + and -, without parentheses. Throws FormatError naming text and character.
  static Expression parse(std::string_view text);

  bool is_constant() const;
  std::set<std::string> symbols() const;
  /// Empty where a product or sum on the way overflows. Every symbol must have a value.
  std::optional<std::int64_t> evaluate(const SymbolValues& values) const;

  /// Throw FormatError where a coefficient overflows or the result has too many terms or factors.
  friend Expression operator+(const Expression& a, const Expression& b);
  friend Expression operator*(const Expression& a, const Expression& b);
  bool operator==(const Expression& other) const { return terms_ == other.terms_; }
  friend std::string to_string(const Expression& expression);

 private:
  /// Names in order, repeated for powers; none for the constant term.
  using Factors = std::vector<std::string>;
  /// Terms with more factors first, the constant last.
  struct Order {
    bool operator()(const Factors& a, const Factors& b) const {
      return a.size() != b.size() ? a.size() > b.size() : a < b;
    }
  };
  void add(const Factors& factors, std::int64_t coefficient);

  std::map<Factors, std::int64_t, Order> terms_;  // no coefficient is 0
};

}  // namespace megakittens::ir
