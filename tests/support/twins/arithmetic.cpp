#include "gpu/twins/arithmetic.cuh"

#include <bit>
#include <random>

#include "support/twins/cases.hpp"

namespace megakittens::test {
namespace {

using Words = std::vector<std::uint32_t>;
using twins::Binary;
using twins::Unary;

/// Zeros, the ends of subnormal and normal numbers of the three types, numbers about 1 and about the limits of
/// integers, infinities, and NaNs quiet, signalling and with a sign.
const Words& edges() {
  static const Words words = [] {
    Words positive = {0x00000000, 0x00000001, 0x00000002, 0x007fffff, 0x00800000, 0x00800001, 0x33000000, 0x33000001,
                      0x33800000, 0x387fc000, 0x387fe000, 0x387fffff, 0x38800000, 0x3effffff, 0x3f000000, 0x3f000001,
                      0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x40000000, 0x40200000, 0x42fe0000, 0x43000000,
                      0x477fe000, 0x477fefff, 0x477ff000, 0x477fffff, 0x47800000, 0x4b000000, 0x4b000001, 0x4b800000,
                      0x4effffff, 0x4f000000, 0x4f7fffff, 0x4f800000, 0x7f7effff, 0x7f7f7fff, 0x7f7f8000, 0x7f7fffff,
                      0x7f800000, 0x7f800001, 0x7fa00000, 0x7fc00000, 0x7fffffff};
    Words all = positive;
    for (const std::uint32_t word : positive) all.push_back(word | 0x80000000);
    return all;
  }();
  return words;
}

void fill_up(Words& words) {
  while (words.size() % 32 != 0) words.push_back(words[words.size() / 2]);
}

Words chance(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Words words(count);
  for (std::uint32_t& word : words) word = static_cast<std::uint32_t>(random());
  return words;
}

/// About every tie between two bf16, and between two f16: the words there, before and behind.
Words ties() {
  Words words;
  auto about = [&](std::uint32_t middle) {
    for (std::uint32_t step = 0; step < 3; ++step) words.push_back(middle - 1 + step);
  };
  for (std::uint32_t high = 0; high < 65536; ++high) about(high << 16 | 0x8000);
  for (std::uint32_t half = 0; half < 65536; half += 1) {
    const float low = device::f16_bits_to_float(static_cast<std::uint16_t>(half));
    const float next = device::f16_bits_to_float(static_cast<std::uint16_t>(half + 1));
    about(std::bit_cast<std::uint32_t>((low + next) / 2));
  }
  return words;
}

/// Every 16-bit pattern in both halves of a word.
Words every_half() {
  Words words;
  for (std::uint32_t half = 0; half < 65536; ++half) words.push_back(half << 16 | (half * 40503 & 0xffff));
  return words;
}

bool is_conversion_to_half(Unary function) {
  return function == Unary::to_bf16 || function == Unary::to_f16 || function == Unary::round_to_bf16 ||
         function == Unary::round_to_f16;
}

/// Hardware functions flush subnormal arguments, which the exact ones of the host do not.
bool flushes(Unary function) {
  return function == Unary::exp2_approx || function == Unary::reciprocal_approx;
}

Agreement agreement(double ulps) {
  return ulps == 0 ? Agreement{Agreement::Kind::floats} : Agreement{Agreement::Kind::ulps, ulps};
}

TwinCase function_of(const std::string& name, std::uint32_t number, const Words& words, std::uint32_t operands,
                     double ulps) {
  TwinCase twin;
  twin.name = name;
  twin.a = static_cast<std::uint32_t>(words.size()) / operands;
  twin.b = number;
  twin.in = to_bytes(words);
  twin.out.resize(std::size_t{twin.a} * 4);
  twin.agreement = agreement(ulps);
  return twin;
}

TwinCase unary(const char* name, Unary function, double ulps) {
  Words words = edges();
  const Words more = is_conversion_to_half(function) ? ties() : chance(1 << 15, 7);
  words.insert(words.end(), more.begin(), more.end());
  if (function >= Unary::f16_low && function <= Unary::bf16_high) words = every_half();
  // Arguments at which the functions have something to say: a few powers of two about 1.
  for (std::uint32_t i = 0; i < 1 << 14; ++i) words.push_back(0x3c000000 + i * 0x2000 + (i & 1) * 0x80000000);
  if (flushes(function))
    for (std::uint32_t& word : words)
      if ((word & 0x7f800000) == 0) word &= 0x80000000;
  fill_up(words);
  TwinCase twin = function_of(name, static_cast<std::uint32_t>(function), words, 1, ulps);
  twin.kernel = "twin_unary";
  twin.host = twins::twin_unary;
  // The 16-bit patterns of a NaN are claimed, and integers have none.
  if (function == Unary::to_bf16 || function == Unary::to_f16 || function == Unary::to_i32 ||
      function == Unary::to_u32 || function == Unary::is_nan)
    twin.agreement = {};
  return twin;
}

/// Every pair of edges, then chance; integers without the quotient that has no 32 bits.
Words pairs() {
  Words left, right;
  for (const std::uint32_t x : edges())
    for (const std::uint32_t y : edges()) left.push_back(x), right.push_back(y);
  const Words more = chance(1 << 15, 8);
  for (std::size_t i = 0; i < more.size() / 2; ++i) left.push_back(more[2 * i]), right.push_back(more[2 * i + 1]);
  for (std::uint32_t i = 0; i < 4096; ++i)  // of the same size
    left.push_back(0x3f000000 + i * 0x1357), right.push_back(0x3f800000 + (i * 0x2469 ^ (i << 31)));
  fill_up(left);
  fill_up(right);
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

TwinCase binary(const char* name, Binary function, double ulps) {
  TwinCase twin = function_of(name, static_cast<std::uint32_t>(function), pairs(), 2, ulps);
  twin.kernel = "twin_binary";
  twin.host = twins::twin_binary;
  if (function >= Binary::pack_bf16 || function == Binary::less || function == Binary::equal) twin.agreement = {};
  return twin;
}

}  // namespace

std::vector<TwinCase> arithmetic_twins() {
  std::vector<TwinCase> cases;
#define MK_UNARY(name, expression, ulps) cases.push_back(unary(#name, Unary::name, ulps));
  MK_TWIN_UNARY(MK_UNARY)
#undef MK_UNARY
#define MK_BINARY(name, expression, ulps) cases.push_back(binary(#name, Binary::name, ulps));
  MK_TWIN_BINARY(MK_BINARY)
#undef MK_BINARY
  Words three = pairs();
  const Words more = chance(three.size() / 2, 9);
  three.insert(three.end(), more.begin(), more.end());
  cases.push_back(function_of("fma", 0, three, 3, 0));
  cases.back().kernel = "twin_fma";
  cases.back().host = twins::twin_fma;
  return cases;
}

}  // namespace megakittens::test
