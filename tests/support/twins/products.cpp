#include <cstring>
#include <random>

#include "gpu/twins/wgmma.cuh"
#include "support/twins/cases.hpp"

namespace megakittens::test {
namespace {

using device::Swizzle;

/// Float sums of 64 products below 1, in another order and with the tensor core's truncation.
constexpr double kCloseEnough = 1e-3;

template <class In>
std::uint16_t bits_of(float x) {
  if constexpr (device::kSame<In, device::Bf16>)
    return device::to_bf16(x).bits;
  else
    return device::to_f16(x).bits;
}

/// A, B and D as the kernels take them: whole numbers of -4 to 4, or fractions of -1 to 1.
template <class In>
std::vector<std::byte> operands(std::uint32_t n, bool whole) {
  std::mt19937 random(11);
  auto value = [&] {
    const int number = static_cast<int>(random() % 2049) - 1024;
    return whole ? static_cast<float>(number / 227) : static_cast<float>(number) / 1024.0f;
  };
  const std::uint32_t halves = (twins::kProductM + n) * twins::kProductK, floats = twins::kProductM * n;
  std::vector<std::byte> bytes(std::size_t{halves} * 2 + std::size_t{floats} * 4);
  for (std::uint32_t i = 0; i < halves; ++i) {
    const std::uint16_t bits = bits_of<In>(value());
    std::memcpy(bytes.data() + std::size_t{i} * 2, &bits, 2);
  }
  for (std::uint32_t i = 0; i < floats; ++i) {
    const float d = value();
    std::memcpy(bytes.data() + std::size_t{halves} * 2 + std::size_t{i} * 4, &d, 4);
  }
  return bytes;
}

template <class In>
void add_products(std::vector<TwinCase>& cases, const std::string& kernel, void (*host)(const twins::Parameters&),
                  std::uint32_t n, bool n_major) {
  for (const Swizzle swizzle : {Swizzle::kNone, Swizzle::k32B, Swizzle::k64B, Swizzle::k128B}) {
    // A row of an N-major block is a whole row of the pattern.
    if (n_major && device::swizzle_row_bytes(swizzle) > 2 * n) continue;
    for (const bool whole : {true, false})
      for (const std::uint32_t accumulate : {0u, 1u}) {
        if (!whole && accumulate == 0) continue;
        TwinCase twin;
        twin.kernel = kernel;
        twin.name = fmt::format("{}, swizzle {}, {}{}", kernel, device::swizzle_row_bytes(swizzle),
                                whole ? "whole numbers" : "fractions", accumulate != 0 ? ", added to D" : "");
        twin.host = host;
        twin.warps = 4;
        twin.shared_bytes = twins::kBytesA + n * twins::kProductK * 2;
        twin.a = static_cast<std::uint32_t>(swizzle);
        twin.b = accumulate;
        twin.in = operands<In>(n, whole);
        twin.out.assign(std::size_t{twins::kProductM} * n * 4, std::byte{0xff});
        if (!whole) twin.agreement = {Agreement::Kind::close, kCloseEnough};
        cases.push_back(std::move(twin));
      }
  }
}

}  // namespace

std::vector<TwinCase> product_twins() {
  std::vector<TwinCase> cases;
#define MK_CASES(NAME, IN, N, LAYOUT, TRANS, FROM)                         \
  add_products<device::IN>(cases, "twin_wgmma_" #NAME "_" #N "_" #LAYOUT "_" #FROM,   \
                           twins::twin_wgmma_##NAME##_##N##_##LAYOUT##_##FROM, N, TRANS);
  MK_TWIN_PRODUCTS(MK_CASES, bf16, Bf16)
  MK_TWIN_PRODUCTS(MK_CASES, f16, F16)
#undef MK_CASES
  return cases;
}

}  // namespace megakittens::test
