#include "megakittens/tensor.hpp"

#include "api/translate.hpp"
#include "runtime/values.hpp"
#include "support/error.hpp"

namespace megakittens {
namespace {}  // namespace

std::string_view name_of(DType dtype) {
  return ir::name_of(api::to_internal(dtype));
}

std::size_t size_of(DType dtype) {
  return static_cast<std::size_t>(ir::size_of(api::to_internal(dtype)));
}

HostTensor::HostTensor(DType dtype, Shape shape) : dtype_(dtype), shape_(std::move(shape)) {
  for (const std::int64_t size : shape_)
    if (size < 0) throw OptionError(fmt::format("a tensor of shape {} is not possible", ir::to_string(shape_)));
  const std::size_t bytes = static_cast<std::size_t>(elements()) * size_of(dtype);
  runtime::expect_memory(bytes);
  bytes_.resize(bytes);
}

std::int64_t HostTensor::elements() const {
  return ir::element_count(shape_);
}

HostTensor HostTensor::from_floats(DType dtype, Shape shape, std::span<const float> values) {
  HostTensor tensor(dtype, std::move(shape));
  if (static_cast<std::int64_t>(values.size()) != tensor.elements())
    throw OptionError(fmt::format("a tensor of shape {} has {} elements, {} were given", ir::to_string(tensor.shape_),
                                  tensor.elements(), values.size()));
  runtime::from_floats(api::to_internal(dtype), values, tensor.bytes_);
  return tensor;
}

HostTensor HostTensor::random(DType dtype, Shape shape, std::uint64_t seed, float scale) {
  HostTensor tensor(dtype, std::move(shape));
  runtime::from_floats(api::to_internal(dtype),
                       runtime::random_values(api::to_internal(dtype), tensor.elements(), seed, scale), tensor.bytes_);
  return tensor;
}

std::vector<float> HostTensor::to_floats() const {
  return runtime::to_floats(api::to_internal(dtype_), bytes_);
}

}  // namespace megakittens
