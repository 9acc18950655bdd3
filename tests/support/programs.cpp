#include "support/programs.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

#include "device/core/float16.cuh"
#include "ir/pointwise.hpp"
#include "ir/reference.hpp"

namespace megakittens::test {
namespace {

using program::ElementType;

std::uint16_t to_bits(ElementType type, float x) {
  if (type == ElementType::bf16) return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16);
  return device::to_f16(x).bits;
}

float from_bits(ElementType type, std::uint16_t bits) {
  if (type == ElementType::bf16) return std::bit_cast<float>(std::uint32_t{bits} << 16);
  return device::f16_bits_to_float(bits);
}

/// `values` are already rounded to the type.
std::vector<std::byte> pack(ElementType type, const std::vector<float>& values) {
  std::vector<std::byte> bytes(values.size() * program::size_of(type));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (type == ElementType::f32) {
      std::memcpy(bytes.data() + 4 * i, &values[i], 4);
    } else {
      const std::uint16_t bits = to_bits(type, values[i]);
      std::memcpy(bytes.data() + 2 * i, &bits, 2);
    }
  }
  return bytes;
}

float element(ElementType type, const std::byte* storage, std::int64_t at) {
  if (type == ElementType::f32) {
    float value = 0;
    std::memcpy(&value, storage + 4 * at, 4);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, storage + 2 * at, 2);
  return from_bits(type, bits);
}

std::vector<float> dense(const program::Port& port, const std::byte* storage) {
  std::int64_t count = 1;
  for (std::int64_t size : port.sizes) count *= size;
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i, at = port.offset;
    for (std::size_t d = port.sizes.size(); d-- > 0;) {
      at += rest % port.sizes[d] * port.strides[d];
      rest /= port.sizes[d];
    }
    values.push_back(element(port.type, storage, at));
  }
  return values;
}

}  // namespace

ProgramCase::ProgramCase(const ir::Graph& graph, program::Program program, float scale) : program_(std::move(program)) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> any(-scale, scale);
  std::vector<std::vector<float>> inputs;
  for (ir::ValueId id : graph.inputs) {
    const ir::Tensor& tensor = graph.value(id).tensor;
    std::vector<float> values(static_cast<std::size_t>(tensor.span()));
    for (float& value : values) value = ir::round_to(tensor.dtype, any(random));
    inputs_.push_back(pack(program_.inputs[inputs.size()].type, values));
    inputs.push_back(std::move(values));
  }
  expected_ = ir::evaluate(graph, std::move(inputs)).outputs;
}

// Storages at aligned addresses, inputs filled in.
struct ProgramCase::Memory {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<void*> storages;

  explicit Memory(const ProgramCase& from) {
    for (const program::Storage& storage : from.program_.storages) {
      std::vector<std::byte>& block = bytes.emplace_back(storage.bytes + 128);
      const std::uintptr_t base = reinterpret_cast<std::uintptr_t>(block.data());
      storages.push_back(block.data() + ((base + 127) / 128 * 128 - base));
    }
    for (std::size_t i = 0; i < from.inputs_.size(); ++i)
      std::memcpy(storages[from.program_.inputs[i].storage], from.inputs_[i].data(), from.inputs_[i].size());
  }
};

emulator::Report ProgramCase::launch(const emulator::RunOptions& options) const {
  const Memory memory(*this);
  return emulator::Workspace(program_).launch(memory.storages, options);
}

void ProgramCase::expect_right(const emulator::RunOptions& options, float tolerance) const {
  const Memory memory(*this);
  const emulator::Report report = emulator::Workspace(program_).launch(memory.storages, options);
  ASSERT_TRUE(report.ok()) << "seed " << options.seed << "\n" << report.text();
  ASSERT_EQ(program_.outputs.size(), expected_.size());
  for (std::size_t k = 0; k < expected_.size(); ++k) {
    const program::Port& port = program_.outputs[k];
    const std::vector<float> got = dense(port, static_cast<const std::byte*>(memory.storages[port.storage]));
    ASSERT_EQ(got.size(), expected_[k].size());
    float largest = 0;
    for (float value : expected_[k]) largest = std::max(largest, std::fabs(value));
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_LE(std::fabs(got[i] - expected_[k][i]), tolerance * largest)
          << "output " << k << ", element " << i << ": " << got[i] << " for " << expected_[k][i] << ", seed "
          << options.seed;
  }
}

}  // namespace megakittens::test
