// Tensor maps as the driver encodes them, and those of one place in a launch's parameters, kept by address.
#pragma once

#include "program/launch.hpp"
#include "program/program.hpp"
#include "runtime/driver.hpp"

namespace megakittens::runtime {

/// `storage` is the base address of the map's storage. Throws ExecutionError for what the driver refuses.
program::CallMap encode(const program::TensorMapDescription& map, CuPointer storage);

/// The maps of the last few addresses that a tensor had: an allocator that hands out blocks in turn costs nothing.
class MapCache {
 public:
  /// Address 0, that of an empty tensor, gives a map of zeros.
  const program::CallMap& get(const program::TensorMapDescription& map, CuPointer storage);

 private:
  static constexpr std::size_t kKept = 16;
  CuPointer addresses_[kKept] = {};
  program::CallMap maps_[kKept] = {};
  std::size_t next_ = 0;
};

}  // namespace megakittens::runtime
