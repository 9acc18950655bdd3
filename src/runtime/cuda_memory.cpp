#include "runtime/cuda_memory.hpp"

#include <utility>

#include "support/error.hpp"

namespace megakittens::runtime {
namespace {

constexpr CuResult kOutOfMemory = 2;
constexpr unsigned kPortableAndMapped = 3;  // CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP

}  // namespace

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  const CuResult result = driver().mem_alloc(&address_, bytes == 0 ? 1 : bytes);
  if (result == kOutOfMemory)
    throw CapacityError(fmt::format("the GPU is out of memory: {} bytes are asked for and not free", bytes));
  check(result, "mem_alloc");
}

DeviceMemory::~DeviceMemory() {
  if (address_ != 0) driver().mem_free(address_);
}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : address_(std::exchange(other.address_, 0)), bytes_(std::exchange(other.bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedWord::SharedWord() {
  void* host = nullptr;
  CuPointer device = 0;
  MK_CUDA(mem_host_alloc(&host, sizeof(std::uint32_t), kPortableAndMapped));
  host_ = static_cast<std::uint32_t*>(host);
  set(0);
  MK_CUDA(mem_host_get_device_pointer(&device, host, 0));
  device_ = reinterpret_cast<std::uint32_t*>(device);
}

SharedWord::~SharedWord() {
  driver().mem_free_host(host_);
}

ContextScope::ContextScope(CuContext context) {
  CuContext current = nullptr;
  MK_CUDA(ctx_get_current(&current));
  if (current == context) return;
  MK_CUDA(ctx_push_current(context));
  pushed_ = true;
}

ContextScope::~ContextScope() {
  CuContext popped = nullptr;
  if (pushed_) driver().ctx_pop_current(&popped);
}

RelaxedCapture::RelaxedCapture() {
  MK_CUDA(thread_exchange_capture_mode(&mode_));
}

RelaxedCapture::~RelaxedCapture() {
  driver().thread_exchange_capture_mode(&mode_);
}

}  // namespace megakittens::runtime
