// Tensors in host memory, as programs take and return them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace megakittens {

enum class DType : std::uint8_t { bf16, f16, f32, i64, i32, boolean };

/// "bf16", "f16", "f32", "i64", "i32", "bool".
std::string_view name_of(DType dtype);
/// Bytes of one element.
std::size_t size_of(DType dtype);

using Shape = std::vector<std::int64_t>;

/// A tensor that a graph or program takes or returns.
struct TensorInfo {
  std::string name;
  DType dtype = DType::bf16;
  Shape shape;
};

/// A dense row-major tensor that owns its bytes.
class HostTensor {
 public:
  /// Filled with zeros. Throws OptionError for a negative size.
  HostTensor(DType dtype, Shape shape);
  /// Rounded to the type, to nearest even. Throws OptionError where the number of values is not the shape's.
  static HostTensor from_floats(DType dtype, Shape shape, std::span<const float> values);
  /// Floating types: uniform in [-scale, scale]; integers from -8 to 8; bool 0 or 1. The same on every machine.
  static HostTensor random(DType dtype, Shape shape, std::uint64_t seed, float scale = 1);

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t elements() const;
  std::span<std::byte> bytes() { return bytes_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::vector<float> to_floats() const;

 private:
  DType dtype_;
  Shape shape_;
  std::vector<std::byte> bytes_;
};

}  // namespace megakittens
