#include "ir/tensor.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "support/error.hpp"

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
  Tensor tensor{.dtype = dtype, .shape = std::move(shape)};
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

bool Tensor::is_row_major() const {
  std::int64_t step = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (shape[i] != 1 && (strides[i] < step || (i + 1 == shape.size() && strides[i] != 1))) return false;
    step = std::max(strides[i], step) * std::max<std::int64_t>(shape[i], 1);
  }
  return true;
}

std::string to_string(const Device& device) {
  constexpr std::string_view kKinds[] = {"any", "cpu", "cuda"};
  const std::string_view kind = kKinds[static_cast<std::size_t>(device.kind)];
  return device.index == 0 ? std::string(kind) : fmt::format("{}:{}", kind, device.index);
}

Device parse_device(std::string_view text) {
  Device device;
  const std::string_view kind = text.substr(0, text.find(':'));
  if (kind == "cpu" && kind == text) return {.kind = DeviceKind::cpu};
  if (kind == "cuda") {
    device.kind = DeviceKind::cuda;
    const std::string_view index = text.substr(std::min(text.size(), kind.size() + 1));
    const auto [end, fault] = std::from_chars(index.data(), index.data() + index.size(), device.index);
    if (kind == text || (fault == std::errc{} && end == index.data() + index.size())) return device;
  }
  throw FormatError(fmt::format("unknown device '{}'; known are cpu, cuda, and cuda:N", text));
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
