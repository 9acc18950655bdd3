#include "emulator/matrix_operand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "device/core/float16.cuh"

namespace megakittens::emulator {
namespace {

constexpr std::uint32_t kDepth = 16;  // k of one instruction

void convert_chunk(const std::byte* from, device::host::Half type, float (&to)[8]) {
  std::uint16_t bits[8];
  std::memcpy(bits, from, sizeof(bits));
  if (type == device::host::Half::kBf16) {
    for (int i = 0; i < 8; i++) to[i] = device::to_float(device::Bf16{bits[i]});
  } else {
    for (int i = 0; i < 8; i++) to[i] = device::f16_bits_to_float(bits[i]);
  }
}

// Sixteen floats side by side: one register with AVX-512, several with less. May lie anywhere.
typedef float Vector __attribute__((vector_size(64), aligned(4), may_alias));
constexpr std::uint32_t kWidth = 16, kRowBlock = 8;

// Eight rows by sixteen columns stay in registers over the sixteen k. Inlined into one function for each kind of
// machine.
inline __attribute__((always_inline)) void multiply_add_body(float* __restrict c, const float* __restrict a,
                                                             const float* __restrict b, std::uint32_t m,
                                                             std::uint32_t n) {
  std::uint32_t j = 0;
  for (; j + kWidth <= n; j += kWidth) {
    for (std::uint32_t i = 0; i < m; i += kRowBlock) {
      Vector sum[kRowBlock];
      for (std::uint32_t r = 0; r < kRowBlock; r++) sum[r] = *reinterpret_cast<const Vector*>(c + (i + r) * n + j);
      for (std::uint32_t k = 0; k < kDepth; k++) {
        const Vector row = *reinterpret_cast<const Vector*>(b + k * n + j);
#pragma GCC unroll 8
        for (std::uint32_t r = 0; r < kRowBlock; r++) sum[r] += row * a[k * m + i + r];
      }
      for (std::uint32_t r = 0; r < kRowBlock; r++) *reinterpret_cast<Vector*>(c + (i + r) * n + j) = sum[r];
    }
  }
  for (; j < n; j++) {
    for (std::uint32_t i = 0; i < m; i++) {
      for (std::uint32_t k = 0; k < kDepth; k++) c[i * n + j] += a[k * m + i] * b[k * n + j];
    }
  }
}

#if defined(__x86_64__)
__attribute__((target("avx512f"))) void multiply_add_avx512(float* c, const float* a, const float* b, std::uint32_t m,
                                                            std::uint32_t n) {
  multiply_add_body(c, a, b, m, n);
}
__attribute__((target("avx2,fma"))) void multiply_add_avx2(float* c, const float* a, const float* b, std::uint32_t m,
                                                           std::uint32_t n) {
  multiply_add_body(c, a, b, m, n);
}
#endif
void multiply_add_plain(float* c, const float* a, const float* b, std::uint32_t m, std::uint32_t n) {
  multiply_add_body(c, a, b, m, n);
}

using MultiplyAdd = void (*)(float*, const float*, const float*, std::uint32_t, std::uint32_t);

MultiplyAdd choose() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return multiply_add_avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return multiply_add_avx2;
#endif
  return multiply_add_plain;
}

}  // namespace

float half_to_float(device::host::Half type, std::uint16_t bits) {
  return type == device::host::Half::kBf16 ? device::to_float(device::Bf16{bits}) : device::f16_bits_to_float(bits);
}

void multiply_add(float* c, const float* a, const float* b, std::uint32_t m, std::uint32_t n) {
  static const MultiplyAdd chosen = choose();
  chosen(c, a, b, m, n);
}

void read_operand(Machine& machine, Cta& cta, const MatrixOperand& operand, std::uint32_t rows, float* out,
                  std::uint32_t pitch, const Access& access, const Warp& issuer, bool compute) {
  const std::uint32_t lines = operand.k_major ? rows : kDepth;
  const std::uint32_t parts = operand.k_major ? kDepth / 8 : rows / 8;
  Checker* checker = machine.checker();
  if (checker != nullptr) checker->begin(access);
  for (std::uint32_t line = 0; line < lines; line++) {
    for (std::uint32_t part = 0; part < parts; part++) {
      const std::uint32_t at = operand.chunk(line, part);
      float values[8] = {};
      if (at < kReservedSharedBytes || at + 16 > cta.shared_bytes) {
        machine.add_finding(Rule::kOutOfBounds, 400,
                            fmt::format("  a matrix operand of {} reaches shared offset {:#x}; the CTA ends at {:#x}",
                                        machine.describe(issuer), at, cta.shared_bytes));
      } else {
        if (checker != nullptr) checker->access_cell(*cta.shared_region, at, access);
        if (compute) convert_chunk(cta.shared + at, operand.type, values);
      }
      if (!compute) continue;
      if (operand.k_major) {
        for (std::uint32_t e = 0; e < 8; e++) out[(part * 8 + e) * pitch + line] = values[e];
      } else {
        std::memcpy(out + line * pitch + part * 8, values, sizeof(values));
      }
    }
  }
}

}  // namespace megakittens::emulator
