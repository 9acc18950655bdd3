#include "runtime/tensor_map.hpp"

#include "support/error.hpp"

namespace megakittens::runtime {
namespace {

constexpr int kPromotion256 = 3;  // CU_TENSOR_MAP_L2_PROMOTION_L2_256B

/// CUtensorMapDataType
int map_type(program::ElementType type) {
  switch (type) {
    case program::ElementType::bf16:
      return 9;
    case program::ElementType::f16:
      return 6;
    case program::ElementType::f32:
      return 7;
    case program::ElementType::i64:
      return 5;
    case program::ElementType::i32:
      return 3;
    case program::ElementType::boolean:
      return 0;
  }
  return 0;
}

}  // namespace

program::CallMap encode(const program::TensorMapDescription& map, CuPointer storage) {
  program::CallMap encoded{};
  const unsigned ones[5] = {1, 1, 1, 1, 1};
  const CuPointer base = storage + static_cast<std::uint64_t>(map.offset) * program::size_of(map.type);
  MK_CUDA(tensor_map_encode_tiled(&encoded, map_type(map.type), map.rank, reinterpret_cast<void*>(base), map.sizes,
                                  map.strides + 1, map.box, ones, 0, static_cast<int>(map.swizzle), kPromotion256, 0));
  return encoded;
}

const program::CallMap& MapCache::get(const program::TensorMapDescription& map, CuPointer storage) {
  for (std::size_t i = 0; i < kKept; ++i)
    if (addresses_[i] == storage) return maps_[i];
  const std::size_t at = next_;
  next_ = (next_ + 1) % kKept;
  addresses_[at] = 0;  // should the driver refuse, nothing is remembered
  maps_[at] = encode(map, storage);
  addresses_[at] = storage;
  return maps_[at];
}

}  // namespace megakittens::runtime
