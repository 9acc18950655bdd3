// Lanes on the host: 32 values side by side, in loops of known length that the compiler turns into vector instructions.
// Operators follow C++'s rules for the element type, promotions included, because on the GPU the elements are plain T.
#pragma once

#include <bit>
#include <limits>
#include <type_traits>

#include "device/core/types.cuh"

namespace megakittens::device {

template <class T>
struct Lanes;

template <class T>
inline constexpr bool kIsLanes = false;
template <class T>
inline constexpr bool kIsLanes<Lanes<T>> = true;
/// Something that stands for one value in every lane.
template <class T>
concept Scalar = !kIsLanes<std::remove_cvref_t<T>>;

/// One element's conversion. Float to integer saturates and NaN becomes 0, as cvt.rzi does; in C++ it would be
/// undefined.
template <class To, class From>
constexpr To convert_element(From from) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
    constexpr From kBelow = static_cast<From>(std::numeric_limits<To>::min());
    constexpr From kAbove = static_cast<From>(std::numeric_limits<To>::max());  // may round up: >= is needed
    if (!(from == from)) return To{0};  // NOLINT(misc-redundant-expression): NaN
    if (from <= kBelow) return std::numeric_limits<To>::min();
    if (from >= kAbove) return std::numeric_limits<To>::max();
  }
  return static_cast<To>(from);
}

/// Not initialised unless given a value, like a register. Aligned for the baseline's vectors; more makes GCC remark on
/// passing by value.
template <class T>
struct alignas(16) Lanes {
  T v[kWarpLanes];

  Lanes() = default;
  /// The same value in every lane.
  template <Scalar U>
    requires std::is_convertible_v<U, T>
  // NOLINTNEXTLINE(google-explicit-constructor): a scalar stands for itself in every lane
  Lanes(U value) {
    const T element = convert_element<T>(value);
    for (uint32_t l = 0; l < kWarpLanes; l++) v[l] = element;
  }
  template <class U>
    requires(!std::is_same_v<U, T> && std::is_convertible_v<U, T>)
  // NOLINTNEXTLINE(google-explicit-constructor): converts as the element type does
  Lanes(const Lanes<U>& other) {
    for (uint32_t l = 0; l < kWarpLanes; l++) v[l] = convert_element<T>(other.v[l]);
  }
};

namespace detail {

template <class T>
struct ElementOf {
  using Type = T;
};
template <class T>
struct ElementOf<Lanes<T>> {
  using Type = T;
};
template <class T>
using Element = typename ElementOf<std::remove_cvref_t<T>>::Type;

template <class T>
constexpr const T& at(const Lanes<T>& x, uint32_t lane) {
  return x.v[lane];
}
template <Scalar T>
constexpr const T& at(const T& x, uint32_t) {
  return x;  // NOLINT(bugprone-return-const-ref-from-parameter): used inside one expression
}

/// f in every lane, of any mixture of Lanes and scalars.
template <class F, class... Args>
auto map(F f, const Args&... args) {
  using Result = decltype(f(at(args, 0)...));
  Lanes<Result> result;
  for (uint32_t l = 0; l < kWarpLanes; l++) result.v[l] = f(at(args, l)...);
  return result;
}

/// `x` converted as in an operation with an Other: made explicit so that comparing unsigned lanes with 0 gives no
/// warning.
template <class Other, class T>
constexpr auto common(T x) {
  return static_cast<decltype(x + Other{})>(x);
}

/// GPUs give all ones for an integer division by zero; lanes whose result nobody uses must not stop the host.
template <class A, class B>
constexpr auto divide(A a, B b) {
  using Result = decltype(a / b);
  if constexpr (std::is_integral_v<Result>)
    return b == B{0} ? static_cast<Result>(~Result{0}) : static_cast<Result>(a / b);
  else
    return a / b;
}
template <class A, class B>
constexpr auto remainder(A a, B b) {
  using Result = decltype(a % b);
  return b == B{0} ? static_cast<Result>(~Result{0}) : static_cast<Result>(a % b);
}

}  // namespace detail

template <class A, class B>
concept AnyLanes = kIsLanes<std::remove_cvref_t<A>> || kIsLanes<std::remove_cvref_t<B>>;

#define MK_LANES_BINARY(OP, EXPRESSION)                                         \
  template <class A, class B>                                                   \
    requires AnyLanes<A, B>                                                     \
  inline auto operator OP(const A& left, const B& right) {                      \
    return detail::map([](auto a, auto b) { return EXPRESSION; }, left, right); \
  }
MK_LANES_BINARY(+, a + b)
MK_LANES_BINARY(-, a - b)
MK_LANES_BINARY(*, a* b)
MK_LANES_BINARY(/, detail::divide(a, b))
MK_LANES_BINARY(%, detail::remainder(a, b))
MK_LANES_BINARY(&, a& b)
MK_LANES_BINARY(|, a | b)
MK_LANES_BINARY(^, a ^ b)
MK_LANES_BINARY(<<, a << b)
MK_LANES_BINARY(>>, a >> b)
MK_LANES_BINARY(<, detail::common<decltype(b)>(a) < detail::common<decltype(a)>(b))
MK_LANES_BINARY(<=, detail::common<decltype(b)>(a) <= detail::common<decltype(a)>(b))
MK_LANES_BINARY(>, detail::common<decltype(b)>(a) > detail::common<decltype(a)>(b))
MK_LANES_BINARY(>=, detail::common<decltype(b)>(a) >= detail::common<decltype(a)>(b))
MK_LANES_BINARY(==, detail::common<decltype(b)>(a) == detail::common<decltype(a)>(b))
MK_LANES_BINARY(!=, detail::common<decltype(b)>(a) != detail::common<decltype(a)>(b))
MK_LANES_BINARY(&&, a&& b)
MK_LANES_BINARY(||, a || b)
#undef MK_LANES_BINARY

#define MK_LANES_ASSIGN(OP)                                            \
  template <class T, class B>                                          \
  inline Lanes<T>& operator OP## = (Lanes<T> & left, const B& right) { \
    return left = left OP right;                                       \
  }
MK_LANES_ASSIGN(+)
MK_LANES_ASSIGN(-)
MK_LANES_ASSIGN(*)
MK_LANES_ASSIGN(/)
MK_LANES_ASSIGN(%)
MK_LANES_ASSIGN(&)
MK_LANES_ASSIGN(|)
MK_LANES_ASSIGN(^)
MK_LANES_ASSIGN(<<)
MK_LANES_ASSIGN(>>)
#undef MK_LANES_ASSIGN

#define MK_LANES_UNARY(OP)                              \
  template <class T>                                    \
  inline auto operator OP(const Lanes<T>& x) {          \
    return detail::map([](auto a) { return OP a; }, x); \
  }
MK_LANES_UNARY(-)
MK_LANES_UNARY(+)
MK_LANES_UNARY(~)
MK_LANES_UNARY(!)
#undef MK_LANES_UNARY

template <class T>
inline Lanes<T>& operator++(Lanes<T>& x) {
  return x += T{1};
}
template <class T>
inline Lanes<T>& operator--(Lanes<T>& x) {
  return x -= T{1};
}

namespace detail {

/// condition ? a : b by bits: a conditional in longer expressions keeps GCC from making vectors of the loop.
constexpr uint32_t choose(bool condition, uint32_t a, uint32_t b) {
  const uint32_t all = 0u - uint32_t{condition};
  return (a & all) | (b & ~all);
}

// Masks are read as bytes: GCC makes no vectors of loops that load bool.
template <class T, class A, class B>
Lanes<T> select_each(const Lanes<bool>& mask, const A& a, const B& b) {
  const unsigned char* bytes = reinterpret_cast<const unsigned char*>(mask.v);
  Lanes<T> result;
  for (uint32_t l = 0; l < kWarpLanes; l++) {
    const T x = at(a, l), y = at(b, l);
    result.v[l] = bytes[l] != 0 ? x : y;
  }
  return result;
}

}  // namespace detail

template <class A, class B>
  requires AnyLanes<A, B> && std::is_same_v<detail::Element<A>, detail::Element<B>>
inline Lanes<detail::Element<A>> select(const Lanes<bool>& mask, const A& a, const B& b) {
  return detail::select_each<detail::Element<A>>(mask, a, b);
}
template <Scalar T>
inline Lanes<T> select(const Lanes<bool>& mask, T a, T b) {
  return detail::select_each<T>(mask, a, b);
}
template <Scalar T>
inline T select(bool mask, T a, T b) {
  return mask ? a : b;
}

template <class To, class From>
inline Lanes<To> bit_cast(const Lanes<From>& from) {
  return detail::map([](From x) { return std::bit_cast<To>(x); }, from);
}
template <class To, Scalar From>
inline To bit_cast(From from) {
  return std::bit_cast<To>(from);
}

template <class To, class From>
inline Lanes<To> convert(const Lanes<From>& from) {
  return from;
}
template <class To, Scalar From>
inline To convert(From from) {
  return convert_element<To>(from);
}

template <class T>
inline Lanes<T> look_up(const T* table, const Lanes<uint32_t>& index) {
  return detail::map([table](uint32_t i) { return table[i]; }, index);
}

}  // namespace megakittens::device
