// The part of DLPack's exchange table (version 1) that a call uses: tensors' places and layouts without libtorch.
// Declared here because no copy of the header is needed to build; docs.pytorch.org and the DLPack project describe it.
#pragma once

#include <cstdint>

namespace megakittens::python::dlpack {

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
};

struct Device {
  std::int32_t type;  ///< 1: CPU, 2: CUDA
  std::int32_t id;
  bool operator==(const Device&) const = default;
};

struct DataType {
  std::uint8_t code;  ///< 0 signed, 1 unsigned, 2 floating, 4 bfloat, 6 bool
  std::uint8_t bits;
  std::uint16_t lanes;
  bool operator==(const DataType&) const = default;
};

/// Sizes and strides (in elements) belong to the tensor it was read from.
struct Tensor {
  void* data;
  Device device;
  std::int32_t dims;
  DataType dtype;
  std::int64_t* sizes;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

/// Lives as long as the process. Functions return 0, or -1 with a Python exception set.
struct ExchangeApi {
  Version version;
  ExchangeApi* older;
  void* allocate;
  void* managed_from_object;
  void* managed_to_object;
  int (*tensor_from_object)(void* object, Tensor* out);
  int (*current_stream)(std::int32_t device_type, std::int32_t device, void** stream);
};

inline constexpr const char* kCapsule = "dlpack_exchange_api";
inline constexpr std::int32_t kCuda = 2;

}  // namespace megakittens::python::dlpack
