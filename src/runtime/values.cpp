#include "runtime/values.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "device/core/float16.cuh"
#include "emulator/random.hpp"
#include "ops/common/merge.hpp"
#include "support/error.hpp"

namespace megakittens::runtime {
namespace {

using program::ElementType;

template <class Element, class Convert>
std::vector<float> read_all(std::span<const std::byte> bytes, Convert&& convert) {
  std::vector<float> values(bytes.size() / sizeof(Element));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Element element;
    std::memcpy(&element, bytes.data() + i * sizeof(Element), sizeof(Element));
    values[i] = convert(element);
  }
  return values;
}

template <class Convert>
void write_all(std::span<const float> values, std::span<std::byte> bytes, Convert&& convert) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto element = convert(values[i]);
    std::memcpy(bytes.data() + i * sizeof(element), &element, sizeof(element));
  }
}

template <class Integer>
Integer clamp_to(float value) {
  if (std::isnan(value)) return 0;
  constexpr auto kEnd = -static_cast<float>(std::numeric_limits<Integer>::min());
  if (value >= kEnd) return std::numeric_limits<Integer>::max();
  return value < -kEnd ? std::numeric_limits<Integer>::min() : static_cast<Integer>(value);
}

/// Calls visit(element in the storage) in row-major order.
template <class Visit>
void for_each_element(const program::Port& port, Visit&& visit) {
  for (const std::int64_t size : port.sizes)
    if (size == 0) return;
  std::vector<std::int64_t> at(port.sizes.size(), 0);
  std::int64_t element = port.offset;
  while (true) {
    visit(element);
    std::size_t d = port.sizes.size();
    for (; d > 0; --d) {
      element += port.strides[d - 1];
      if (++at[d - 1] < port.sizes[d - 1]) break;
      element -= port.strides[d - 1] * port.sizes[d - 1];
      at[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

std::uint64_t element_count(const program::Port& port) {
  std::uint64_t count = 1;
  for (const std::int64_t size : port.sizes) count *= static_cast<std::uint64_t>(size);
  return count;
}

std::uint64_t seed_of(std::uint64_t seed, std::size_t input) {
  return emulator::Random(seed * 0x100000001b3u + input).next();
}

}  // namespace

std::vector<float> to_floats(ElementType type, std::span<const std::byte> bytes) {
  switch (type) {
    case ElementType::bf16:
      return read_all<device::Bf16>(bytes, [](device::Bf16 x) { return device::to_float(x); });
    case ElementType::f16:
      return read_all<device::F16>(bytes, [](device::F16 x) { return device::to_float(x); });
    case ElementType::f32:
      return read_all<float>(bytes, [](float x) { return x; });
    case ElementType::i64:
      return read_all<std::int64_t>(bytes, [](std::int64_t x) { return static_cast<float>(x); });
    case ElementType::i32:
      return read_all<std::int32_t>(bytes, [](std::int32_t x) { return static_cast<float>(x); });
    case ElementType::boolean:
      return read_all<std::uint8_t>(bytes, [](std::uint8_t x) { return x != 0 ? 1.0f : 0.0f; });
  }
  throw FormatError(fmt::format("element type number {} is unknown", static_cast<int>(type)));
}

void from_floats(ElementType type, std::span<const float> values, std::span<std::byte> bytes) {
  MK_CHECK(values.size() * program::size_of(type) == bytes.size(), "{} values of {} in {} bytes", values.size(),
           program::name_of(type), bytes.size());
  switch (type) {
    case ElementType::bf16:
      return write_all(values, bytes, [](float x) { return device::to_bf16(x); });
    case ElementType::f16:
      return write_all(values, bytes, [](float x) { return device::to_f16(x); });
    case ElementType::f32:
      return write_all(values, bytes, [](float x) { return x; });
    case ElementType::i64:
      return write_all(values, bytes, [](float x) { return clamp_to<std::int64_t>(x); });
    case ElementType::i32:
      return write_all(values, bytes, [](float x) { return clamp_to<std::int32_t>(x); });
    case ElementType::boolean:
      return write_all(values, bytes, [](float x) { return static_cast<std::uint8_t>(x != 0); });
  }
}

std::vector<float> random_values(ElementType type, std::int64_t count, std::uint64_t seed, float scale) {
  expect_memory(static_cast<std::uint64_t>(count) * sizeof(float));
  std::vector<float> values(static_cast<std::size_t>(count));
  const ir::DType dtype = type;
  emulator::Random random(seed);
  for (float& value : values) {
    const std::uint64_t bits = random.next();
    if (type == ElementType::boolean)
      value = static_cast<float>(bits >> 63);
    else if (!ir::is_floating(dtype))
      value = static_cast<float>(static_cast<std::int64_t>((bits >> 32) % 17) - 8);
    else
      value = ir::round_to(dtype, scale * (static_cast<float>(bits >> 40) * 0x1p-23f - 1));
  }
  return values;
}

std::vector<std::byte> read_port(const program::Port& port, const HostBuffer& storage) {
  const std::size_t size = program::size_of(port.type);
  std::vector<std::byte> dense(element_count(port) * size);
  std::byte* to = dense.data();
  for_each_element(port, [&](std::int64_t element) {
    std::memcpy(to, storage.data() + static_cast<std::size_t>(element) * size, size);
    to += size;
  });
  return dense;
}

void write_port(const program::Port& port, std::span<const std::byte> dense, HostBuffer& storage) {
  const std::size_t size = program::size_of(port.type);
  MK_CHECK(dense.size() == element_count(port) * size, "{} bytes for '{}'", dense.size(), port.name);
  const std::byte* from = dense.data();
  for_each_element(port, [&](std::int64_t element) {
    std::memcpy(storage.data() + static_cast<std::size_t>(element) * size, from, size);
    from += size;
  });
}

std::vector<std::vector<float>> random_inputs(const ir::Graph& graph, std::uint64_t seed) {
  std::vector<float> scales(graph.values.size(), 1);
  for (const ir::Node& node : graph.nodes) {
    if (node.family != ir::Family::contraction || node.operands.size() < 2 || node.operands[1].view.rank() < 2)
      continue;
    const ir::View& right = node.operands[1].view;
    const std::int64_t depth = std::max<std::int64_t>(right.sizes[right.sizes.size() - 2], 3);
    scales[static_cast<std::size_t>(graph.root(node.operands[1].value))] = std::sqrt(3.0f / static_cast<float>(depth));
  }
  std::vector<std::vector<float>> inputs;
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) {
    const ir::Tensor& tensor = graph.value(graph.inputs[i]).tensor;
    inputs.push_back(random_values(tensor.dtype, tensor.span(), seed_of(seed, i),
                                   scales[static_cast<std::size_t>(graph.inputs[i])]));
  }
  return inputs;
}

std::vector<std::vector<float>> random_inputs(const program::Program& program, std::uint64_t seed) {
  std::vector<std::vector<float>> inputs;
  for (std::size_t i = 0; i < program.inputs.size(); ++i) {
    const program::Port& port = program.inputs[i];
    const std::uint64_t bytes = program.storages[port.storage].bytes;
    inputs.push_back(
        random_values(port.type, static_cast<std::int64_t>(bytes / program::size_of(port.type)), seed_of(seed, i)));
  }
  return inputs;
}

}  // namespace megakittens::runtime
