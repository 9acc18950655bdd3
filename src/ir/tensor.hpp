// A dense tensor: element type, shape, and strides over its own storage.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/dtype.hpp"

namespace megakittens::ir {

inline constexpr int kMaxRank = 8;

using Extents = std::vector<std::int64_t>;

/// Row-major strides, in elements, of a dense tensor of this shape.
Extents contiguous_strides(const Extents& shape);
std::int64_t element_count(const Extents& shape);

enum class DeviceKind : std::uint8_t { any, cpu, cuda };

/// Which of a kind's devices; one program runs on one until several are supported.
struct Device {
  DeviceKind kind = DeviceKind::any;
  std::uint16_t index = 0;
  bool operator==(const Device&) const = default;
};

/// "any", "cpu", "cuda", "cuda:1".
std::string to_string(const Device& device);
/// The inverse. Throws FormatError naming the text and what is known.
Device parse_device(std::string_view text);

/// Strides are in elements. A node's output is row-major, dense but for gaps that a pass puts between rows; an input
/// may have any non-negative strides.
struct Tensor {
  DType dtype = DType::bf16;
  Extents shape;
  Extents strides;
  Device device;

  static Tensor dense(DType dtype, Extents shape);
  int rank() const { return static_cast<int>(shape.size()); }
  std::int64_t elements() const { return element_count(shape); }
  /// Elements from the first to one past the last that the strides reach; 0 where a dimension is 0.
  std::int64_t span() const;
  bool is_contiguous() const;
  /// The last dimension is contiguous and each other one steps over all that the next one holds, or further.
  bool is_row_major() const;
  bool operator==(const Tensor&) const = default;
};

/// "bf16[3, 1024]", with strides where the tensor is not contiguous: "bf16[4, 8] strides [1, 4]".
std::string to_string(const Tensor& tensor);
std::string to_string(const Extents& extents);

}  // namespace megakittens::ir
