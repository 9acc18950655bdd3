#include "ir/tensor.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace megakittens::ir {

Extents contiguous_strides(const Extents& shape) {
  Extents strides(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

std::int64_t element_count(const Extents& shape) {
  std::int64_t count = 1;
  for (std::int64_t extent : shape) count *= extent;
  return count;
}

Tensor Tensor::dense(DType dtype, Extents shape) {
  Tensor tensor{.dtype = dtype, .shape = std::move(shape), .strides = {}, .device = DeviceKind::any};
  tensor.strides = contiguous_strides(tensor.shape);
  return tensor;
}

std::int64_t Tensor::span() const {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return 0;
    last += (shape[i] - 1) * strides[i];
  }
  return last + 1;
}

bool Tensor::is_contiguous() const {
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && strides[i] != step) return false;
    step *= std::max<std::int64_t>(shape[i], 1);
  }
  return true;
}

std::string to_string(const Extents& extents) {
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

std::string to_string(const Tensor& tensor) {
  std::string text = fmt::format("{}{}", name_of(tensor.dtype), to_string(tensor.shape));
  if (!tensor.is_contiguous()) text += " strides " + to_string(tensor.strides);
  return text;
}

}  // namespace megakittens::ir
