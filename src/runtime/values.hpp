// Elements as bytes and as floats, and random ones.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.hpp"
#include "program/program.hpp"
#include "runtime/host_buffer.hpp"

namespace megakittens::runtime {

/// `bytes` is a multiple of the element size. Integers are rounded to the nearest float, bool gives 0 or 1.
std::vector<float> to_floats(program::ElementType type, std::span<const std::byte> bytes);
/// Rounds to nearest even; integers are truncated and clamped to their range (NaN gives 0). `bytes` holds exactly the
/// values.
void from_floats(program::ElementType type, std::span<const float> values, std::span<std::byte> bytes);

/// Floating types: uniform in [-scale, scale]; i64 and i32: integers from -8 to 8; bool: 0 or 1. Rounded to the type,
/// and a function of the arguments on every machine.
std::vector<float> random_values(program::ElementType type, std::int64_t count, std::uint64_t seed, float scale = 1);

/// What the port shows of its storage, dense in row-major order; and the inverse.
std::vector<std::byte> read_port(const program::Port& port, const HostBuffer& storage);
void write_port(const program::Port& port, std::span<const std::byte> dense, HostBuffer& storage);

/// One vector a graph input, tensor.span() values each, as ir::evaluate takes them. Operands that are the right side of
/// a product of depth K are scaled to sqrt(3 / K), so that results keep the size of the left side.
std::vector<std::vector<float>> random_inputs(const ir::Graph& graph, std::uint64_t seed);
/// The same for a program alone: one vector an input, the storage's elements each, all in [-1, 1].
std::vector<std::vector<float>> random_inputs(const program::Program& program, std::uint64_t seed);

}  // namespace megakittens::runtime
