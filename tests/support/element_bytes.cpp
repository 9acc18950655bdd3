#include "support/element_bytes.hpp"

#include <cstring>

#include "device/core/float16.cuh"

namespace megakittens::test {
namespace {

template <class T, class Convert>
void write_as(const std::vector<float>& values, unsigned char* bytes, Convert&& convert) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    T element = convert(values[i]);
    std::memcpy(bytes + i * sizeof(T), &element, sizeof(T));
  }
}

template <class T, class Convert>
std::vector<float> read_as(const unsigned char* bytes, std::int64_t count, Convert&& convert) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T element;
    std::memcpy(&element, bytes + i * sizeof(T), sizeof(T));
    values[i] = convert(element);
  }
  return values;
}

}  // namespace

void write_elements(ir::DType dtype, const std::vector<float>& values, unsigned char* bytes) {
  switch (dtype) {
    case ir::DType::bf16:
      return write_as<std::uint16_t>(values, bytes, [](float x) { return device::to_bf16(x).bits; });
    case ir::DType::f16:
      return write_as<std::uint16_t>(values, bytes, [](float x) { return device::to_f16(x).bits; });
    case ir::DType::f32:
      return write_as<float>(values, bytes, [](float x) { return x; });
    case ir::DType::i64:
      return write_as<std::int64_t>(values, bytes, [](float x) { return static_cast<std::int64_t>(x); });
    case ir::DType::i32:
      return write_as<std::int32_t>(values, bytes, [](float x) { return static_cast<std::int32_t>(x); });
    case ir::DType::boolean:
      return write_as<std::uint8_t>(values, bytes, [](float x) { return static_cast<std::uint8_t>(x != 0); });
  }
}

std::vector<float> read_elements(ir::DType dtype, const unsigned char* bytes, std::int64_t count) {
  switch (dtype) {
    case ir::DType::bf16:
      return read_as<std::uint16_t>(bytes, count, [](std::uint16_t x) { return device::to_float(device::Bf16{x}); });
    case ir::DType::f16:
      return read_as<std::uint16_t>(bytes, count, [](std::uint16_t x) { return device::f16_bits_to_float(x); });
    case ir::DType::f32:
      return read_as<float>(bytes, count, [](float x) { return x; });
    case ir::DType::i64:
      return read_as<std::int64_t>(bytes, count, [](std::int64_t x) { return static_cast<float>(x); });
    case ir::DType::i32:
      return read_as<std::int32_t>(bytes, count, [](std::int32_t x) { return static_cast<float>(x); });
    case ir::DType::boolean:
      return read_as<std::uint8_t>(bytes, count, [](std::uint8_t x) { return static_cast<float>(x); });
  }
  return {};
}

}  // namespace megakittens::test
