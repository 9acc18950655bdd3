// Eight neighbouring values between memory and fp32 registers, for every element type.
#pragma once

#include "device/core/float16.cuh"
#include "device/core/math.cuh"
#include "device/machine.cuh"
#include "program/node_record.hpp"

namespace megakittens::ops {

using device::Lanes;
using device::Words;
using program::ElementType;

/// Values that lie next to each other in a row: what one vector access moves for 16-bit types.
inline constexpr uint32_t kRun = 8;

/// Bytes of each type, four bits each.
inline constexpr uint32_t kElementSizes = 0
#define MK_DTYPE(name, text, bytes, kind) | uint32_t{bytes} << (4 * static_cast<uint32_t>(ElementType::name))
#include "ir/dtypes.def"
    ;

MK_DEVICE uint32_t element_size(uint32_t type) {
  return kElementSizes >> (4 * type) & 15;
}

MK_DEVICE Lanes<float> truth(Lanes<bool> mask) {
  return device::select(mask, Lanes<float>(1.0f), Lanes<float>(0.0f));
}
/// A bool's byte: whatever is not 0 is true.
MK_DEVICE Lanes<float> truth(Lanes<uint32_t> byte) {
  return truth(byte != 0u);
}

/// Rounds to the type and back, as storing and loading would. Integers are not rounded to.
MK_DEVICE Lanes<float> round_value(uint32_t type, Lanes<float> x) {
  if (type == static_cast<uint32_t>(ElementType::bf16)) return device::round_to<device::Bf16>(x);
  if (type == static_cast<uint32_t>(ElementType::f16)) return device::round_to<device::F16>(x);
  if (type == static_cast<uint32_t>(ElementType::boolean)) return truth(x != 0.0f);
  return x;
}

/// bf16, f16 and f32: the types whose runs move as vectors everywhere.
MK_DEVICE bool is_floating(uint32_t type) {
  return type <= static_cast<uint32_t>(ElementType::f32);
}
static_assert(static_cast<uint32_t>(ElementType::bf16) < 2 && static_cast<uint32_t>(ElementType::f16) < 2);

/// Reads eight values of a floating type through `reader`, whose v4(i) gives the i-th 16 bytes.
template <class Reader>
MK_DEVICE void read_floating_run(uint32_t type, const Reader& reader, Lanes<float>* values) {
  if (type == static_cast<uint32_t>(ElementType::f32)) {
    MK_UNROLL for (uint32_t h = 0; h < 2; ++h) {
      const Words<4> words = reader.v4(h);
      MK_UNROLL for (uint32_t i = 0; i < 4; ++i) values[4 * h + i] = device::bit_cast<float>(words.w[i]);
    }
    return;
  }
  const Words<4> words = reader.v4(0);
  if (type == static_cast<uint32_t>(ElementType::bf16)) {
    MK_UNROLL for (uint32_t i = 0; i < 4; ++i) {
      values[2 * i] = device::bf16_low(words.w[i]);
      values[2 * i + 1] = device::bf16_high(words.w[i]);
    }
  } else {
    MK_UNROLL for (uint32_t i = 0; i < 4; ++i) {
      values[2 * i] = device::f16_low(words.w[i]);
      values[2 * i + 1] = device::f16_high(words.w[i]);
    }
  }
}

/// Reads eight values of any type; the reader's v2() gives the first 8 bytes.
template <class Reader>
MK_DEVICE void read_run(uint32_t type, const Reader& reader, Lanes<float>* values) {
  if (is_floating(type)) {
    read_floating_run(type, reader, values);
  } else if (type == static_cast<uint32_t>(ElementType::i32)) {
    MK_UNROLL for (uint32_t h = 0; h < 2; ++h) {
      const Words<4> words = reader.v4(h);
      MK_UNROLL for (uint32_t i = 0; i < 4; ++i) values[4 * h + i] =
          device::convert<float>(device::bit_cast<int32_t>(words.w[i]));
    }
  } else if (type == static_cast<uint32_t>(ElementType::i64)) {
    MK_UNROLL for (uint32_t h = 0; h < 4; ++h) {
      const Words<4> words = reader.v4(h);
      MK_UNROLL for (uint32_t i = 0; i < 2; ++i) {
        const Lanes<uint64_t> bits =
            device::convert<uint64_t>(words.w[2 * i + 1]) << 32 | device::convert<uint64_t>(words.w[2 * i]);
        values[2 * h + i] = device::convert<float>(device::bit_cast<int64_t>(bits));
      }
    }
  } else {
    const Words<2> words = reader.v2();
    MK_UNROLL for (uint32_t i = 0; i < kRun; ++i) values[i] = truth(words.w[i / 4] >> (8 * (i % 4)) & 255u);
  }
}

/// Writes eight values through `writer`, whose v4(i, words) puts 16 bytes: bf16, f16, f32.
template <class Writer>
MK_DEVICE void write_floating_run(uint32_t type, const Writer& writer, const Lanes<float>* values) {
  if (type == static_cast<uint32_t>(ElementType::bf16) || type == static_cast<uint32_t>(ElementType::f16)) {
    const bool bf16 = type == static_cast<uint32_t>(ElementType::bf16);
    Words<4> words;
    MK_UNROLL for (uint32_t i = 0; i < 4; ++i) words.w[i] = bf16 ? device::pack_bf16x2(values[2 * i], values[2 * i + 1])
                                                                 : device::pack_f16x2(values[2 * i], values[2 * i + 1]);
    writer.v4(0, words);
  } else {
    MK_UNROLL for (uint32_t h = 0; h < 2; ++h) {
      Words<4> words;
      MK_UNROLL for (uint32_t i = 0; i < 4; ++i) words.w[i] = device::bit_cast<uint32_t>(values[4 * h + i]);
      writer.v4(h, words);
    }
  }
}

/// The same and bool, by the writer's v2(words).
template <class Writer>
MK_DEVICE void write_run(uint32_t type, const Writer& writer, const Lanes<float>* values) {
  if (is_floating(type)) {
    write_floating_run(type, writer, values);
  } else {
    Words<2> words;
    MK_UNROLL for (uint32_t h = 0; h < 2; ++h) {
      words.w[h] = 0u;
      MK_UNROLL for (uint32_t i = 0; i < 4; ++i) words.w[h] =
          words.w[h] | device::select(values[4 * h + i] != 0.0f, Lanes<uint32_t>(1u << (8 * i)), Lanes<uint32_t>(0u));
    }
    writer.v2(words);
  }
}

/// One value of any type at base + offset bytes, in the lanes of the mask; 0 elsewhere.
MK_DEVICE Lanes<float> load_value(uint32_t type, const void* base, Lanes<uint64_t> offset, Lanes<bool> mask) {
  switch (static_cast<ElementType>(type)) {
    case ElementType::bf16:
    case ElementType::f16: {
      const Lanes<uint32_t> bits = device::convert<uint32_t>(ptx::ld_global_u16(base, offset, mask, uint16_t{0}));
      return type == static_cast<uint32_t>(ElementType::bf16) ? device::bf16_low(bits) : device::f16_low(bits);
    }
    case ElementType::f32:
      return device::bit_cast<float>(ptx::ld_global_u32(base, offset, mask, 0u));
    case ElementType::i32:
      return device::convert<float>(device::bit_cast<int32_t>(ptx::ld_global_u32(base, offset, mask, 0u)));
    case ElementType::i64:
      return device::convert<float>(device::bit_cast<int64_t>(ptx::ld_global_u64(base, offset, mask, uint64_t{0})));
    default:
      return truth(device::convert<uint32_t>(ptx::ld_global_u8(base, offset, mask, uint8_t{0})));
  }
}

/// One value as bf16, f16, f32 or bool, in the lanes of the mask.
MK_DEVICE void store_value(uint32_t type, void* base, Lanes<uint64_t> offset, Lanes<float> value, Lanes<bool> mask) {
  switch (static_cast<ElementType>(type)) {
    case ElementType::bf16:
      return ptx::st_global_u16(base, offset, device::convert<uint16_t>(device::pack_bf16x2(value, value) & 0xffffu),
                                mask);
    case ElementType::f16:
      return ptx::st_global_u16(base, offset, device::convert<uint16_t>(device::pack_f16x2(value, value) & 0xffffu),
                                mask);
    case ElementType::f32:
      return ptx::st_global_u32(base, offset, device::bit_cast<uint32_t>(value), mask);
    default:
      return ptx::st_global_u8(
          base, offset, device::select(value != 0.0f, Lanes<uint8_t>(uint8_t{1}), Lanes<uint8_t>(uint8_t{0})), mask);
  }
}

}  // namespace megakittens::ops
