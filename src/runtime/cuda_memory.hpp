// Memory that the driver gives, and who may ask for it when: of the current context, freed with its object.
#pragma once

#include <cstddef>

#include "runtime/driver.hpp"

namespace megakittens::runtime {

/// Device memory.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// Throws CapacityError where the GPU has not that much.
  explicit DeviceMemory(std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;

  CuPointer address() const { return address_; }
  std::size_t bytes() const { return bytes_; }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(address_);
  }

 private:
  CuPointer address_ = 0;
  std::size_t bytes_ = 0;
};

/// A word in the host's memory that kernels write and the host reads without a copy. Zero at first.
class SharedWord {
 public:
  SharedWord();
  ~SharedWord();
  SharedWord(const SharedWord&) = delete;
  SharedWord& operator=(const SharedWord&) = delete;

  std::uint32_t value() const { return __atomic_load_n(host_, __ATOMIC_ACQUIRE); }
  void set(std::uint32_t value) { __atomic_store_n(host_, value, __ATOMIC_RELEASE); }
  std::uint32_t* on_device() const { return device_; }

 private:
  std::uint32_t* host_ = nullptr;
  std::uint32_t* device_ = nullptr;
};

/// Makes a context current for the length of a scope.
class ContextScope {
 public:
  explicit ContextScope(CuContext context);
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  bool pushed_ = false;
};

/// While it lives this thread may allocate although a stream captures: nothing of ours touches that stream.
class RelaxedCapture {
 public:
  RelaxedCapture();
  ~RelaxedCapture();
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  int mode_ = 2;  // CU_STREAM_CAPTURE_MODE_RELAXED
};

}  // namespace megakittens::runtime
