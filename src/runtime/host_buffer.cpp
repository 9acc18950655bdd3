#include "runtime/host_buffer.hpp"

#include <unistd.h>

#include <cstring>
#include <new>

#include "support/error.hpp"

namespace megakittens::runtime {

void expect_memory(std::uint64_t bytes) {
  const auto all =
      static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  if (bytes > all)
    throw CapacityError(fmt::format("a tensor takes {} bytes; this machine has {} of memory", bytes, all));
}

HostBuffer::HostBuffer(std::uint64_t bytes) : bytes_(bytes) {
  expect_memory(bytes);
  const std::uint64_t room = (bytes / kStorageAlignment + 1) * kStorageAlignment;
  void* data = ::operator new(room, std::align_val_t{kStorageAlignment}, std::nothrow);
  if (data == nullptr)
    throw CapacityError(fmt::format("a tensor takes {} bytes, which this machine does not give", bytes));
  std::memset(data, 0, room);
  data_.reset(static_cast<std::byte*>(data));
}

HostBuffer HostBuffer::clone() const {
  HostBuffer copy(bytes_);
  if (bytes_ > 0) std::memcpy(copy.data(), data(), bytes_);
  return copy;
}

void HostBuffer::Free::operator()(std::byte* data) const {
  ::operator delete(data, std::align_val_t{kStorageAlignment});
}

}  // namespace megakittens::runtime
