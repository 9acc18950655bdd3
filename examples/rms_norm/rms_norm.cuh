// Root mean square norm of rows: y = x * rsqrt(mean(x^2) + epsilon) * weight. A warp takes a row.
// Index words: outer0, outer1, first row, rows, columns. Constant 0: epsilon. Operands: x, weight, those of operations
// fused behind it, y.
#pragma once

#include "ops/user/direct.cuh"

namespace megakittens::user {

struct RmsNorm : ops::Direct {
  template <class B>
  MK_DEVICE void consume(device::Context<B>& c) const {
    using device::Lanes;
    begin(c);
    const int32_t end_row = c.index(2) + c.index(3), columns = c.index(4);
    MK_ROLLED for (int32_t row = c.index(2) + static_cast<int32_t>(c.warp); row < end_row;
                   row += static_cast<int32_t>(device::kConsumerWarps)) {
      Lanes<float> squares = 0.0f;
      MK_ROLLED for (int32_t at = 0; at < columns; at += ops::RowPlace::kWidth) {
        const ops::RowPlace place{row, at, columns};
        Lanes<float> x[ops::kChunk];
        load(c, 0, place, x);
        MK_UNROLL for (uint32_t i = 0; i < ops::kChunk; ++i) squares = device::fma(x[i], x[i], squares);
      }
      const Lanes<float> mean = device::warp_sum(squares) / static_cast<float>(columns);
      const Lanes<float> scale = device::rsqrt(mean + c.code_constant(0));
      MK_ROLLED for (int32_t at = 0; at < columns; at += ops::RowPlace::kWidth) {
        const ops::RowPlace place{row, at, columns};
        Lanes<float> x[ops::kChunk], weight[ops::kChunk];
        load(c, 0, place, x);
        load(c, 1, place, weight);
        MK_UNROLL for (uint32_t i = 0; i < ops::kChunk; ++i) x[i] = x[i] * scale * weight[i];
        ops::store_result(c, place, x);
      }
    }
    end(c);
  }

 private:
  /// Sixteen values a lane, zeros outside the row.
  template <class B>
  MK_DEVICE void load(const device::Context<B>& c, uint32_t operand, const ops::RowPlace& place,
                      device::Lanes<float> (&values)[ops::kChunk]) const {
    MK_UNROLL for (uint32_t i = 0; i < ops::kChunk; ++i) values[i] = 0.0f;
    ops::GlobalOperand(c.window(operand)).load(place, values);
  }
};

}  // namespace megakittens::user
