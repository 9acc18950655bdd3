#include "emulator/reduction.hpp"

#include <cstring>

#include "device/core/float16.cuh"

namespace megakittens::emulator {
namespace {

template <class T, class Add>
void add_as(std::byte* to, const std::byte* from, std::uint32_t bytes, Add add) {
  for (std::uint32_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to + i, sizeof(T));
    std::memcpy(&b, from + i, sizeof(T));
    a = add(a, b);
    std::memcpy(to + i, &a, sizeof(T));
  }
}

}  // namespace

void add_into(device::TensorMapType type, std::byte* to, const std::byte* from, std::uint32_t bytes) {
  using device::TensorMapType;
  auto plain = [](auto a, auto b) { return static_cast<decltype(a)>(a + b); };
  switch (type) {
    case TensorMapType::kF32:
      return add_as<float>(to, from, bytes, plain);
    case TensorMapType::kF64:
      return add_as<double>(to, from, bytes, plain);
    case TensorMapType::kBf16:
      return add_as<device::Bf16>(to, from, bytes, [](device::Bf16 a, device::Bf16 b) {
        return device::to_bf16(device::to_float(a) + device::to_float(b));
      });
    case TensorMapType::kF16:
      return add_as<device::F16>(to, from, bytes, [](device::F16 a, device::F16 b) {
        return device::to_f16(device::to_float(a) + device::to_float(b));
      });
    case TensorMapType::kU64:
    case TensorMapType::kI64:
      return add_as<std::uint64_t>(to, from, bytes, plain);
    case TensorMapType::kU16:
      return add_as<std::uint16_t>(to, from, bytes, plain);
    case TensorMapType::kU8:
      return add_as<std::uint8_t>(to, from, bytes, plain);
    default:
      return add_as<std::uint32_t>(to, from, bytes, plain);
  }
}

}  // namespace megakittens::emulator
