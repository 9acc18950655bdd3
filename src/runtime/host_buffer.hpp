// Memory of one storage on the host, aligned as programs expect storages to be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace megakittens::runtime {

inline constexpr std::size_t kStorageAlignment = 128;

/// Owns its bytes, which are zero at first. An empty buffer has an address of its own, too.
class HostBuffer {
 public:
  HostBuffer() = default;
  /// Throws CapacityError where the machine has not that much memory.
  explicit HostBuffer(std::uint64_t bytes);

  std::byte* data() const { return data_.get(); }
  std::uint64_t bytes() const { return bytes_; }
  HostBuffer clone() const;

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::uint64_t bytes_ = 0;
};

/// Throws CapacityError where this machine's whole memory is smaller: sizes come from files, and an allocation that
/// succeeds on paper would end the process when it is filled.
void expect_memory(std::uint64_t bytes);

}  // namespace megakittens::runtime
