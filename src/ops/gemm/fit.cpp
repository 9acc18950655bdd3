#include "ops/gemm/fit.hpp"

#include <fmt/format.h>

#include "ops/gemm/arguments.hpp"
#include "ops/icodes.hpp"

namespace megakittens::ops::gemm {
namespace {

using program::ElementType;
using program::NodeRecord;

/// What an icode says; device code reads the same off it (ops/gemm/operands.cuh).
struct Form {
  bool general;
  bool n_major;
  bool small;  ///< a tile that only Hopper has
  ElementType type;
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t depth;  ///< of a stage
};

Form form_of(std::uint16_t icode, program::Architecture architecture) {
  switch (icode) {
    case kIcode_gemm_general_bf16:
      return {true, false, false, ElementType::bf16, kHopperRows, kHopperColumns, 0};
    case kIcode_gemm_general_f16:
      return {true, false, false, ElementType::f16, kHopperRows, kHopperColumns, 0};
    case kIcode_gemm_general_f32:
      return {true, false, false, ElementType::f32, kHopperRows, kHopperColumns, 0};
    default:
      break;
  }
  const int kind = icode - kIcode_gemm_bf16_kmajor;
  const ElementType type = kind % 4 < 2 ? ElementType::bf16 : ElementType::f16;
  const bool n_major = kind % 2 == 1;
  if (icode >= kIcode_gemm_narrow_bf16_kmajor)
    return {false, n_major, true, type, kDividedRows, kNarrowColumns, kDividedDepth};
  if (icode >= kIcode_gemm_divided_bf16_kmajor)
    return {false, n_major, true, type, kDividedRows, kDividedColumns, kDividedDepth};
  if (icode >= kIcode_gemm_medium_bf16_kmajor)
    return {false, n_major, true, type, kHopperRows, kMediumColumns, kStageDepth};
  if (program::target_of(architecture).family.tensor_memory)
    return {false, n_major, false, type, kBlackwellRows, kBlackwellColumns, kStageDepth};
  return {false, n_major, false, type, kHopperRows, kHopperColumns, kStageDepth};
}

Fault shapes_fault(const NodeRecord& record, const Form& form) {
  const std::int64_t outer0 = record.extents[0], outer1 = record.extents[1], m = record.extents[2],
                     n = record.extents[3], depth = record.parameters[kDepth];
  if (depth < (form.general ? 0 : 1)) return fmt::format("a depth of {}", depth);
  for (int k = 0; k < record.operand_count; ++k) {
    const Sizes sizes = k == 0   ? Sizes{outer0, outer1, m, depth}
                        : k == 1 ? Sizes{outer0, outer1, depth, n}
                                 : Sizes{outer0, outer1, m, n};
    if (Fault fault = operand_fault(record, k, sizes)) return fault;
    if (k < 2 && type_of(record.operands[k]) != form.type)
      return fmt::format("operand {} is {}", k, program::name_of(type_of(record.operands[k])));
    if (is_output(record, k) && !is_floating(type_of(record.operands[k])))
      return fmt::format("the result is {}", program::name_of(type_of(record.operands[k])));
  }
  return std::nullopt;
}

/// Both operands lie in shared memory as rows of 64 elements with the 128-byte swizzle.
Fault maps_fault(const program::Program& program, const NodeRecord& record, const Form& form) {
  MapShape shape{.box = {kStageDepth, form.rows}, .swizzle = program::Swizzle::b128, .broadcast = true};
  if (Fault fault = map_fault(program, record, 0, shape)) return fault;
  shape.box = {kStageDepth, form.n_major ? form.depth : form.columns};
  if (!form.n_major) shape.dims = {2, 3, 1, 0};
  return map_fault(program, record, 1, shape);
}

}  // namespace

Fault record_fault(const program::Program& program, const NodeRecord& record, std::uint16_t icode) {
  const Form form = form_of(icode, program.config.architecture);
  if (form.small && program::target_of(program.config.architecture).family.tensor_memory)
    return fmt::format("{} does not have this tile", program::name_of(program.config.architecture));
  if (record.operand_count < 3 || record.output_count != 1)
    return fmt::format("{} operands with {} outputs", record.operand_count, record.output_count);
  if (Fault fault = unmapped_fault(record, form.general ? 0 : 2)) return fault;
  if (Fault fault = shapes_fault(record, form)) return fault;
  if (!form.general)
    if (Fault fault = maps_fault(program, record, form)) return fault;
  return code_fault(record, 2, program::kGemmTemporaries);
}

Fault instruction_fault(const program::Program& program, const NodeRecord& record,
                        const program::Instruction& instruction) {
  if (Fault fault = tile_fault(record, instruction, kIndexCount)) return fault;
  const Form form = form_of(instruction.icode, program.config.architecture);
  const std::int32_t* index = instruction.index;
  if (index[kRows] > static_cast<std::int32_t>(form.rows) || index[kColumns] > static_cast<std::int32_t>(form.columns))
    return fmt::format("a tile of {} x {}; {} x {} is the most", index[kRows], index[kColumns], form.rows,
                       form.columns);
  if (index[kTileDepth] != record.parameters[kDepth])
    return fmt::format("a depth of {}, and the record says {}", index[kTileDepth], record.parameters[kDepth]);
  return std::nullopt;
}

}  // namespace megakittens::ops::gemm
