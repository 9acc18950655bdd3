// What a product's record and index words must be for the GEMM device halves to follow them.
#include <fmt/format.h>

#include <algorithm>

#include "ops/common/fit.hpp"
#include "ops/gemm/arguments.hpp"
#include "ops/gemm/cut.hpp"

namespace megakittens::ops::gemm {
namespace {

using program::ElementType;
using program::NodeRecord;

Fault shapes_fault(const NodeRecord& record, const Kind& kind) {
  const std::int64_t outer0 = record.extents[0], outer1 = record.extents[1], m = record.extents[2],
                     n = record.extents[3], depth = record.parameters[kDepth];
  if (depth < (kind.general ? 0 : 1)) return fmt::format("a depth of {}", depth);
  const ElementType type = kind.exact ? ElementType::f32 : kind.f16 ? ElementType::f16 : ElementType::bf16;
  for (int k = 0; k < record.operand_count; ++k) {
    const Sizes sizes = k == 0   ? Sizes{outer0, outer1, m, depth}
                        : k == 1 ? Sizes{outer0, outer1, depth, n}
                                 : Sizes{outer0, outer1, m, n};
    if (Fault fault = operand_fault(record, k, sizes)) return fault;
    if (k < 2 && type_of(record.operands[k]) != type)
      return fmt::format("operand {} is {}", k, program::name_of(type_of(record.operands[k])));
    if (is_output(record, k) && !is_floating(type_of(record.operands[k])))
      return fmt::format("the result is {}", program::name_of(type_of(record.operands[k])));
  }
  return std::nullopt;
}

/// Both operands lie in shared memory as rows of 64 elements with the 128-byte swizzle.
Fault maps_fault(const program::Program& program, const NodeRecord& record, const Kind& kind) {
  const Tile& tile = tile_of(kind.tile);
  MapShape shape{.box = {kBlock, tile.rows}, .swizzle = program::Swizzle::b128, .broadcast = true};
  if (Fault fault = map_fault(program, record, 0, shape)) return fault;
  shape.box = {kBlock, kind.n_major ? tile.depth : tile.columns};
  if (!kind.n_major) shape.dims = {2, 3, 1, 0};
  return map_fault(program, record, 1, shape);
}

}  // namespace

std::uint64_t Product::most_clocks(const NodeRecord& record, const program::Instruction& instruction) const {
  // For each of K: twice what the slowest tile takes. Without tensor cores 128 fused multiply-adds in each of 8 warps,
  // of which four run at once, and as many loads: at least 256.
  constexpr std::uint64_t kTensorCores = 2 * std::ranges::max(kTiles, {}, &Tile::chunk_clocks).chunk_clocks / kBlock;
  constexpr std::uint64_t kGeneral = 1024;
  return static_cast<std::uint64_t>(record.parameters[kDepth]) *
         (Kind(instruction.icode).general ? kGeneral : kTensorCores);
}

Fault Product::record_fault(const program::Program& program, const NodeRecord& record, std::uint16_t icode) const {
  const Kind kind(icode);
  if (!kind.general && tile_of(kind.tile).cores != cores_of(program.config.architecture))
    return fmt::format("{} does not have this tile", program::name_of(program.config.architecture));
  if (record.operand_count < 3 || record.output_count != 1)
    return fmt::format("{} operands with {} outputs", record.operand_count, record.output_count);
  if (Fault fault = unmapped_fault(record, kind.general ? 0 : 2)) return fault;
  if (Fault fault = shapes_fault(record, kind)) return fault;
  if (!kind.general)
    if (Fault fault = maps_fault(program, record, kind)) return fault;
  if (Fault fault = code_fault(record, 2, program::kGemmTemporaries)) return fault;
  if (!kind.general && !tile_of(kind.tile).takes_unrounded() && !rounds_first(record))
    return std::string("its code does not round first, as a tile of this width needs");
  return std::nullopt;
}

Fault Product::instruction_fault(const program::Program&, const NodeRecord& record,
                                 const program::Instruction& instruction) const {
  if (Fault fault = tile_fault(record, instruction, kIndexCount)) return fault;
  const Kind kind(instruction.icode);
  const std::uint32_t rows = kind.general ? kGeneralRows : tile_of(kind.tile).rows;
  const std::uint32_t columns = kind.general ? kGeneralColumns : tile_of(kind.tile).columns;
  const std::int32_t* index = instruction.index;
  if (index[kRows] > static_cast<std::int32_t>(rows) || index[kColumns] > static_cast<std::int32_t>(columns))
    return fmt::format("a tile of {} x {}; {} x {} is the most", index[kRows], index[kColumns], rows, columns);
  if (index[kTileDepth] != record.parameters[kDepth])
    return fmt::format("a depth of {}, and the record says {}", index[kTileDepth], record.parameters[kDepth]);
  return std::nullopt;
}

}  // namespace megakittens::ops::gemm
