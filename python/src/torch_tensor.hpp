// Where PyTorch 2.11 keeps what a call looks at, so that a tensor is looked at without a call into PyTorch. Only the
// fields are declared that are read here; c10/core/TensorImpl.h and StorageImpl.h have them all. Nothing of this is
// used before python/megakittens/compat_tensors.py has compared it with what PyTorch says of tensors of many kinds.
#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>

namespace megakittens::python::torch_tensor {

/// c10::StorageImpl
struct Storage {
  void* object[2];  // virtual functions, reference counts
  std::uintptr_t data;
  void* owner[3];
  std::int64_t bytes;
  bool bytes_on_heap, resizable, received;
  bool special;  ///< asking for the address may do something: copy on write, an error, a warning
};
static_assert(offsetof(Storage, data) == 16 && offsetof(Storage, special) == 59);

/// Type and number of a device; -1 is no number.
struct Device {
  std::int8_t type, index;
  bool operator==(const Device&) const = default;
};

/// c10::TensorImpl
struct Tensor {
  static constexpr std::uint64_t kNear = 5;  // so many dimensions have their place here

  void* object[2];
  const Storage* storage;
  const void* autograd;  ///< null: requires no gradient
  const void* extra[4];
  std::uint64_t dims;
  union {
    const std::int64_t* far;  // sizes, then strides
    std::int64_t near[2 * kNear];
  } layout;
  std::int64_t offset;  ///< in elements
  std::int64_t elements;
  std::uint16_t dtype;
  Device device;
  bool has_device;
  std::uint8_t flags[3];
  std::uint64_t keys;  ///< of dispatch: what kind of tensor this is, lazily negated or not, and so on

  const std::int64_t* sizes() const { return dims <= kNear ? layout.near : layout.far; }
  const std::int64_t* strides() const { return dims <= kNear ? layout.near + kNear : layout.far + dims; }
  /// That these fields are all that there is to know: no class behind it answers for itself, sizes are numbers.
  bool plain() const {
    return storage != nullptr && !storage->special && !storage->bytes_on_heap && has_device && (flags[0] & 0x02) == 0 &&
           (flags[1] & 0xfc) == 0 && (flags[2] & 0x7f) == 0;
  }
  /// As PyTorch's data_ptr() has it: 0 where there are no elements.
  std::uintptr_t address(std::size_t element_bytes) const {
    return elements == 0 ? 0 : storage->data + static_cast<std::uintptr_t>(offset) * element_bytes;
  }
  /// Whether `span` bytes from the first element on are the storage's; a storage may have been resized.
  bool holds(std::uint64_t span, std::size_t element_bytes) const {
    return span == 0 ||
           (storage->data != 0 && offset >= 0 &&
            static_cast<std::uint64_t>(offset) * element_bytes + span <= static_cast<std::uint64_t>(storage->bytes));
  }
  bool same_kind(const Tensor& other) const {
    return keys == other.keys && dtype == other.dtype && device == other.device;
  }
};
static_assert(offsetof(Tensor, dims) == 64 && offsetof(Tensor, offset) == 152 && offsetof(Tensor, device) == 170 &&
              offsetof(Tensor, keys) == 176 && sizeof(Tensor) == 184);

/// Of an object whose class is exactly torch.Tensor or torch.nn.Parameter; lives as long as the object does.
inline const Tensor& fields(PyObject* object) {
  struct Object {
    PyObject head;
    const Tensor* tensor;
  };
  return *reinterpret_cast<const Object*>(object)->tensor;
}

}  // namespace megakittens::python::torch_tensor
