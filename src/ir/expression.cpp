#include "ir/expression.hpp"

#include <algorithm>
#include <charconv>

#include "support/error.hpp"

namespace megakittens::ir {
namespace {

// Above what graphs need; every edge may hold 17 expressions, so these bound what a damaged file costs.
constexpr std::size_t kMaxText = 1000;
constexpr std::size_t kMaxTerms = 16;
constexpr std::size_t kMaxFactors = 8;
constexpr std::size_t kMaxName = 64;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Reads terms from left to right.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  /// A number or a name.
  std::string_view word() {
    skip_spaces();
    const std::size_t start = at_;
    while (at_ < text_.size() && (is_letter(text_[at_]) || is_digit(text_[at_]))) ++at_;
    if (at_ == start) fail("expected a number or a symbol", start);
    return text_.substr(start, at_ - start);
  }

  /// Whether `symbol` comes next; moves past it.
  bool takes(char symbol) {
    skip_spaces();
    if (at_ == text_.size() || text_[at_] != symbol) return false;
    ++at_;
    return true;
  }

  bool ended() {
    skip_spaces();
    return at_ == text_.size();
  }

  [[noreturn]] void fail(std::string_view what, std::size_t at) const {
    throw FormatError(fmt::format("'{}' is no size: {} at character {}", text_, what, at + 1));
  }
  [[noreturn]] void fail(std::string_view what) const { fail(what, at_); }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_symbol_name(std::string_view text) {
  return !text.empty() && text.size() <= kMaxName && is_letter(text[0]) &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c); });
}

Expression::Expression(std::int64_t constant) {
  if (constant != 0) add({}, constant);
}

Expression Expression::parse(std::string_view text) {
  if (text.size() > kMaxText)
    throw FormatError(fmt::format("a size of {} characters; at most {} are read", text.size(), kMaxText));
  Parser parser(text);
  Expression sum;
  bool negative = parser.takes('-');
  for (;;) {
    Expression product(negative ? -1 : 1);
    do {
      const std::string_view word = parser.word();
      Expression factor;
      if (is_symbol_name(word)) {
        factor.terms_[{std::string(word)}] = 1;
      } else {
        std::int64_t number = 0;
        const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
        if (fault != std::errc{} || end != word.data() + word.size())
          parser.fail(fmt::format("'{}' is neither a symbol nor a number of 64 bits", word),
                      static_cast<std::size_t>(word.data() - text.data()));
        factor = Expression(number);
      }
      product = product * factor;
    } while (parser.takes('*'));
    sum = sum + product;
    if (parser.ended()) return sum;
    negative = parser.takes('-');
    if (!negative && !parser.takes('+')) parser.fail("expected *, + or -");
  }
}

bool Expression::is_constant() const {
  return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty());
}

std::set<std::string> Expression::symbols() const {
  std::set<std::string> names;
  for (const auto& [factors, coefficient] : terms_) names.insert(factors.begin(), factors.end());
  return names;
}

std::optional<std::int64_t> Expression::evaluate(const SymbolValues& values) const {
  std::int64_t sum = 0;
  for (const auto& [factors, coefficient] : terms_) {
    std::int64_t product = coefficient;
    for (const std::string& name : factors) {
      const auto found = values.find(name);
      MK_CHECK(found != values.end(), "symbol '{}' has no value", name);
      if (__builtin_mul_overflow(product, found->second, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

void Expression::add(const Factors& factors, std::int64_t coefficient) {
  if (factors.size() > kMaxFactors)
    throw FormatError(fmt::format("a product of {} symbols; at most {} are possible", factors.size(), kMaxFactors));
  std::int64_t& sum = terms_[factors];
  // The lowest number has no magnitude that could be printed and read back.
  if (__builtin_add_overflow(sum, coefficient, &sum) || sum == INT64_MIN)
    throw FormatError("a coefficient does not fit 64 bits");
  if (sum == 0) terms_.erase(factors);
}

Expression operator+(const Expression& a, const Expression& b) {
  Expression sum = a;
  for (const auto& [factors, coefficient] : b.terms_) sum.add(factors, coefficient);
  if (sum.terms_.size() > kMaxTerms)
    throw FormatError(fmt::format("a sum of {} terms; at most {} are possible", sum.terms_.size(), kMaxTerms));
  return sum;
}

Expression operator*(const Expression& a, const Expression& b) {
  Expression product;
  for (const auto& [left, x] : a.terms_)
    for (const auto& [right, y] : b.terms_) {
      Expression::Factors factors;
      std::ranges::merge(left, right, std::back_inserter(factors));
      std::int64_t coefficient = 0;
      if (__builtin_mul_overflow(x, y, &coefficient)) throw FormatError("a coefficient does not fit 64 bits");
      product.add(factors, coefficient);
    }
  if (product.terms_.size() > kMaxTerms)
    throw FormatError(fmt::format("a sum of {} terms; at most {} are possible", product.terms_.size(), kMaxTerms));
  return product;
}

std::string to_string(const Expression& expression) {
  std::string text;
  for (const auto& [factors, coefficient] : expression.terms_) {
    const bool negative = coefficient < 0;
    text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + ");
    const std::int64_t magnitude = negative ? -coefficient : coefficient;
    std::string product = magnitude == 1 && !factors.empty() ? "" : fmt::format("{}", magnitude);
    for (const std::string& name : factors) product += (product.empty() ? "" : "*") + name;
    text += product;
  }
  return text.empty() ? "0" : text;
}

}  // namespace megakittens::ir
