// One function that uses the whole core vocabulary, compiled for both architectures and run on the host.
#pragma once

#include "device/core/float16.cuh"
#include "device/core/swizzle.cuh"
#include "device/core/warp.cuh"

namespace megakittens::device {

/// Each block of the sum is 0 or a small whole number where everything works as the comments in vocabulary_test.cpp
/// say.
MK_DEVICE Lanes<float> use_vocabulary(Lanes<float> x, uint32_t& single_lane_runs) {
  const Lanes<uint32_t> lane = lane_index();
  const Lanes<bool> even = lane % 2 == 0;
  Lanes<float> sum = select(even, x, -x) + select(even, 1.0f, 2.0f);
  sum += exp(log(abs(x) + 1)) - exp2(log2(abs(x) + 1));
  sum += sqrt(x * x) * reciprocal(abs(x) + 1) - abs(x) / (abs(x) + 1);
  sum += rsqrt(x * x + 1) * tanh(x) * erf(x) * 0 + pow(abs(x), 2.0f) * 0 + log1p(abs(x)) * 0 + expm1(x * 0);
  sum += exp2_approx(x * 0) - reciprocal_approx(Lanes<float>(1.0f)) + tanh_approx(x * 0);
  sum = fma(x, 0.0f, sum) + floor(x) * 0 + ceil(x) * 0 + trunc(x) * 0 + round(x) * 0;
  sum = max(min(sum, 1000.0f), -1000.0f);
  const Lanes<uint32_t> pair = pack<Bf16>(x, sum), half = pack<F16>(x, sum);
  sum += unpack_low<Bf16>(pair) - round_to<Bf16>(x) + unpack_high<F16>(half) - round_to<F16>(sum);
  sum += to_float(to_bf16(x)) - to_float(to_bf16(x)) + to_float(to_f16(x)) * 0 + round_to<float>(x) * 0;
  sum += shuffle_xor(sum, 1) - shuffle_index(sum, lane ^ 1);
  sum += convert<float>(swizzle_address<Swizzle::k128B>(lane * 128) >> 4) * 0;
  sum += convert<float>(convert<int32_t>(x) & 0) + bit_cast<float>(bit_cast<uint32_t>(x) & 0u);
  Lanes<int32_t> count = convert<int32_t>(lane);
  ++count;
  count -= min(count, max(count, Lanes<int32_t>(-1)));
  sum += convert<float>(count) + warp_max(x) * 0 + warp_sum(x) * 0;
  if (any(is_nan(sum)) || !all(lane < 32u) || ballot(even) != 0x55555555u) sum = -1.0f;
  one_lane([&] { single_lane_runs++; });
  const uint32_t answer = warp_uniform(one_lane_value([&] { return 3u; }));
  const uint64_t wide = warp_uniform(select(even, uint64_t{1} << 40, uint64_t{1} << 40));
  return sum + static_cast<float>(answer) + static_cast<float>(wide >> 40);
}

}  // namespace megakittens::device
