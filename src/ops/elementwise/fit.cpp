#include "ops/elementwise/fit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise/arguments.hpp"

namespace megakittens::ops::elementwise {
namespace {

using program::ElementType;
using program::NodeRecord;

int first_mapped(const NodeRecord& record) {
  int k = 0;
  while (k < record.operand_count && !is_mapped(record.operands[k])) ++k;
  return k;
}

/// Rows of a tile: what every map's box has. The record has a map.
std::uint32_t tile_rows(const program::Program& program, const NodeRecord& record) {
  return program.maps[record.operands[first_mapped(record)].map].box[1];
}

Fault tiled_fault(const program::Program& program, const NodeRecord& record) {
  if (first_mapped(record) == record.operand_count) return "no operand has a tensor map";
  if (record.extents[2] == 1) return "its space is a single row";
  const std::uint32_t rows = tile_rows(program, record);
  if (rows > std::uint32_t{kMostTileRows} || rows % kChunkRows != 0) return fmt::format("tiles of {} rows", rows);
  for (int k = 0; k < record.operand_count; ++k)
    if (is_mapped(record.operands[k]) || is_output(record, k))
      if (Fault fault = map_fault(program, record, k, {.box = {kTileColumns, rows}})) return fault;
  return std::nullopt;
}

/// Where a tile's operands lie in pages.
Fault slots_fault(const program::Program& program, const NodeRecord& record, const std::int32_t* index) {
  int largest = 0;
  for (int k = 0; k < record.operand_count; ++k)
    if (is_mapped(record.operands[k])) largest = std::max(largest, program::size_of(type_of(record.operands[k])));
  const std::int64_t bytes = std::int64_t{tile_rows(program, record)} * kTileColumns * largest;
  if (bytes == 0 || index[kSlotBytes] != bytes)
    return fmt::format("slots of {} bytes, not {}", index[kSlotBytes], bytes);
  const auto counts = static_cast<std::uint32_t>(index[kSlotCounts]);
  const std::uint32_t per_tile = counts & 0xffff, per_page = counts >> 16;
  if (per_page != program.config.page_bytes / bytes || per_page == 0 || per_tile == 0)
    return fmt::format("{} slots a tile and {} a page of {} bytes", per_tile, per_page, program.config.page_bytes);
  const std::int64_t tiles = (std::int64_t{index[kColumns]} + kTileColumns - 1) / kTileColumns;
  if (tiles * per_tile > std::int64_t{per_page} * program.config.pages)
    return fmt::format("{} tiles of {} slots, and {} pages of {} slots", tiles, per_tile, program.config.pages,
                       per_page);
  std::uint32_t element_in[16] = {};  // by slot: of the input that lies there
  std::uint32_t taken = 0;            // slots that an output has
  for (int k = 0; k < record.operand_count; ++k) {
    if (!is_mapped(record.operands[k])) continue;
    const auto numbers = static_cast<std::uint32_t>(index[k < 8 ? kSlotsLow : kSlotsHigh]);
    const std::uint32_t slot = numbers >> (4 * (k % 8)) & 15, element = program::size_of(type_of(record.operands[k]));
    if (slot >= per_tile) return fmt::format("operand {} lies in slot {} of {}", k, slot, per_tile);
    const bool shared = is_output(record, k)
                            ? (taken >> slot & 1) != 0 || (element_in[slot] != 0 && element_in[slot] != element)
                            : element_in[slot] != 0;
    if (shared) return fmt::format("operand {} lies in slot {}, which is another's", k, slot);
    if (is_output(record, k))
      taken |= 1u << slot;
    else
      element_in[slot] = element;
  }
  return std::nullopt;
}

}  // namespace

Fault record_fault(const program::Program& program, const NodeRecord& record, bool tiled) {
  if (record.output_count == 0) return "it has no output";
  if (!tiled)
    if (Fault fault = unmapped_fault(record, 0)) return fault;
  for (int k = 0; k < record.operand_count; ++k) {
    if (Fault fault =
            operand_fault(record, k, {record.extents[0], record.extents[1], record.extents[2], record.extents[3]}))
      return fault;
    const ElementType type = type_of(record.operands[k]);
    if (is_output(record, k) && !is_floating(type) && type != ElementType::boolean)
      return fmt::format("operand {} is an output of type {}", k, program::name_of(type));
  }
  if (tiled)
    if (Fault fault = tiled_fault(program, record)) return fault;
  return code_fault(record, 0, program::kTemporaries);
}

Fault instruction_fault(const program::Program& program, const NodeRecord& record,
                        const program::Instruction& instruction, bool tiled) {
  if (Fault fault = tile_fault(record, instruction, tiled ? kSlotsHigh + 1 : kShape + 1)) return fault;
  const std::uint32_t rows = tiled ? tile_rows(program, record) : 0;
  const std::uint32_t shape =
      (record.extents[2] == 1 ? kSingleRow : 0) | std::uint32_t{record.operand_count} << 8 | rows << 16;
  if (static_cast<std::uint32_t>(instruction.index[kShape]) != shape)
    return fmt::format("its shape word is {:#x}, not {:#x}", static_cast<std::uint32_t>(instruction.index[kShape]),
                       shape);
  if (!tiled) return std::nullopt;
  if (instruction.index[kRows] > static_cast<std::int32_t>(rows))
    return fmt::format("{} rows, and tiles have {}", instruction.index[kRows], rows);
  return slots_fault(program, record, instruction.index);
}

}  // namespace megakittens::ops::elementwise
