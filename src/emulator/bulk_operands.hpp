// Checks of operands that bulk copies in both directions share.
#pragma once

#include <optional>

#include "emulator/machine.hpp"
#include "emulator/tensor_box.hpp"

namespace megakittens::emulator {

void bad_operand(Machine& machine, const char* operation, const char* what);
/// Addresses and size are multiples of 16.
bool check_bulk_operands(Machine& machine, const char* operation, std::uint64_t global, std::uint32_t shared,
                         std::uint32_t bytes);
/// Reads the map as the hardware would at issue; nothing where it is refused.
std::optional<TensorBox> box_operand(Machine& machine, const void* map, const std::int32_t* at, int rank);
/// The box's place in shared memory: 128 aligned bytes, and a swizzle's pattern must start at its atom.
bool check_box_address(Machine& machine, const TensorBox& box, std::uint32_t address);

}  // namespace megakittens::emulator
