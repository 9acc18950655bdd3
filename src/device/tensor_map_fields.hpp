// Our own description of a tensor map: what the runtime hands to cuTensorMapEncodeTiled, and what the emulator keeps
// inside the 128-byte object. Dimension 0 is the fastest. Numbers of the enumerations are those of the CUDA driver API.
#pragma once

#include "device/core/swizzle.cuh"
#include "device/tensor_map.hpp"
#include "ir/element_type.hpp"

namespace megakittens::device {

inline constexpr int kMaxTensorMapRank = 5;

/// CUtensorMapDataType
enum class TensorMapType : uint8_t {
  kU8 = 0,
  kU16 = 1,
  kU32 = 2,
  kI32 = 3,
  kU64 = 4,
  kI64 = 5,
  kF16 = 6,
  kF32 = 7,
  kF64 = 8,
  kBf16 = 9
};
/// Of each element type's values: bool's are bytes.
constexpr TensorMapType tensor_map_type(ir::DType type) {
  constexpr TensorMapType kTypes[] = {TensorMapType::kBf16, TensorMapType::kF16, TensorMapType::kF32,
                                      TensorMapType::kI64,  TensorMapType::kI32, TensorMapType::kU8};
  constexpr int kDTypes = 0
#define MK_DTYPE(...) +1
#include "ir/dtypes.def"
      ;
  static_assert(sizeof(kTypes) == kDTypes * sizeof(kTypes[0]) && uint8_t(ir::DType::boolean) == kDTypes - 1);
  return kTypes[static_cast<uint8_t>(type)];
}

/// CUtensorMapL2promotion
enum class L2Promotion : uint8_t { kNone = 0, k64B = 1, k128B = 2, k256B = 3 };
/// CUtensorMapFloatOOBfill: what a load writes for elements outside the tensor. Stores outside write nothing.
enum class OutOfBoundsFill : uint8_t { kZero = 0, kNan = 1 };

/// A tiled tensor map without interleaving. Limits (CUDA driver API, cuTensorMapEncodeTiled): base and byte strides are
/// multiples of 16, dims at most 2^32, strides below 2^40, box extents 1 to 256, element strides 1 to 8, and the box's
/// inner extent in bytes a multiple of 16 and no wider than the swizzle.
struct TensorMapFields {
  uint64_t base;               ///< global address, 16-byte aligned
  uint32_t dims_minus_one[5];  ///< extent - 1 in elements, so that 2^32 fits; 0 beyond the rank
  uint16_t reserved;           ///< zero
  TensorMapType type;
  uint8_t rank;                ///< 1 to 5
  uint64_t strides[4];         ///< bytes from one index of dimension 1..4 to the next; dimension 0 is dense
  uint32_t magic;              ///< kTensorMapMagic: a map that nobody filled is found
  uint16_t box[5];             ///< elements moved in each dimension
  uint8_t element_strides[5];  ///< every n-th element
  Swizzle swizzle;
  L2Promotion l2_promotion;
  OutOfBoundsFill fill;

  constexpr uint64_t dim(int d) const { return uint64_t{dims_minus_one[d]} + 1; }
};
static_assert(sizeof(TensorMapFields) <= sizeof(TensorMap));

inline constexpr uint32_t kTensorMapMagic = 0x4d4b544d;

/// Bytes of one element of a tensor map's type.
constexpr uint32_t element_bytes(TensorMapType type) {
  switch (type) {
    case TensorMapType::kU8:
      return 1;
    case TensorMapType::kU16:
    case TensorMapType::kF16:
    case TensorMapType::kBf16:
      return 2;
    case TensorMapType::kU64:
    case TensorMapType::kI64:
    case TensorMapType::kF64:
      return 8;
    default:
      return 4;
  }
}

/// Bytes that one copy moves into shared memory, elements outside the tensor included: what its mbarrier must expect.
constexpr uint32_t box_bytes(const TensorMapFields& map) {
  uint32_t elements = 1;
  for (int d = 0; d < map.rank; d++) elements *= (map.box[d] + map.element_strides[d] - 1u) / map.element_strides[d];
  return elements * element_bytes(map.type);
}

}  // namespace megakittens::device
