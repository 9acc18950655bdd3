#include "runtime/tensor_map.hpp"

#include "device/tensor_map_fields.hpp"
#include "support/error.hpp"

namespace megakittens::runtime {
namespace {

constexpr int kPromotion256 = static_cast<int>(device::L2Promotion::k256B);

}  // namespace

program::CallMap encode(const program::TensorMapDescription& map, CuPointer storage) {
  program::CallMap encoded{};
  const unsigned ones[5] = {1, 1, 1, 1, 1};
  const CuPointer base = storage + static_cast<std::uint64_t>(map.offset) * program::size_of(map.type);
  MK_CUDA(tensor_map_encode_tiled(&encoded, static_cast<int>(device::tensor_map_type(map.type)), map.rank,
                                  reinterpret_cast<void*>(base), map.sizes, map.strides + 1, map.box, ones, 0,
                                  static_cast<int>(map.swizzle), kPromotion256, 0));
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
