#include "ops/common/fit.hpp"

#include <fmt/format.h>

namespace megakittens::ops {
namespace {

using program::CodeOp;
using program::CodeWord;
using program::NodeRecord;
using program::OperandRecord;

/// Index words of every type that works on tiles.
enum TileWord { kOuter0, kOuter1, kRow, kColumn, kRows, kColumns };

constexpr std::int64_t kMostStride = std::int64_t{1} << 48;
constexpr int kRunColumns = 8;  // what a lane moves at once

std::uint8_t expected_flags(const NodeRecord& record, int k, bool bulk) {
  const OperandRecord& operand = record.operands[k];
  int flags = is_output(record, k) ? program::kOperandOutput : 0;
  if (operand.strides[2] == 0) flags |= program::kOperandVector;
  if (operand.strides[0] == 0) flags |= program::kOperandBroadcast0;
  if (operand.strides[1] == 0) flags |= program::kOperandBroadcast1;
  if (bulk || is_mapped(operand)) flags |= program::kOperandBulk;
  return static_cast<std::uint8_t>(flags);
}

Fault source_fault(const NodeRecord& record, int source, int first_input, int temporaries) {
  if (source == program::kNoSource) return std::nullopt;
  if (source >= program::kSourceConstant)
    return source < program::kSourceConstant + record.constant_count
               ? std::nullopt
               : Fault(fmt::format("constant {} of {}", source - program::kSourceConstant, record.constant_count));
  if (source >= program::kSourceTemporary)
    return source < program::kSourceTemporary + temporaries
               ? std::nullopt
               : Fault(fmt::format("temporary {} of {}", source - program::kSourceTemporary, temporaries));
  const int inputs_end = record.operand_count - record.output_count;
  if (source >= first_input && source < inputs_end) return std::nullopt;
  return fmt::format("operand {}, which it cannot read", source);
}

}  // namespace

bool is_output(const NodeRecord& record, int k) {
  return k >= record.operand_count - record.output_count;
}

bool is_mapped(const OperandRecord& operand) {
  return operand.map != program::kNoMap;
}

program::ElementType type_of(const OperandRecord& operand) {
  return static_cast<program::ElementType>(operand.type);
}

Fault operand_fault(const NodeRecord& record, int k, const Sizes& sizes, bool bulk) {
  const OperandRecord& operand = record.operands[k];
  for (int d = 0; d < program::kMaxTileRank; ++d) {
    if (operand.sizes[d] != sizes[d])
      return fmt::format("operand {} has {} elements in dimension {}, not {}", k, operand.sizes[d], d, sizes[d]);
    if (operand.sizes[d] > program::kMaxExtent)
      return fmt::format("operand {} has {} elements in dimension {}, over the limit of {}", k, operand.sizes[d], d,
                         program::kMaxExtent);
    if (operand.strides[d] >= kMostStride)
      return fmt::format("operand {} has stride {} in dimension {}", k, operand.strides[d], d);
  }
  if (operand.sizes[3] > 1 && operand.strides[3] * program::size_of(type_of(operand)) > INT32_MAX)
    return fmt::format("operand {} has columns {} elements apart", k, operand.strides[3]);
  if (const std::uint8_t flags = expected_flags(record, k, bulk); operand.flags != flags)
    return fmt::format("operand {} has flags {}; its place, strides and map call for {}", k, operand.flags, flags);
  return std::nullopt;
}

Fault map_fault(const program::Program& program, const NodeRecord& record, int k, const MapShape& shape) {
  const OperandRecord& operand = record.operands[k];
  if (!is_mapped(operand)) return fmt::format("operand {} needs a tensor map and has none", k);
  const program::TensorMapDescription& map = program.maps[operand.map];
  const std::string what = fmt::format("operand {} has tensor map {}, ", k, operand.map);
  const std::uint64_t element = program::size_of(type_of(operand));
  if (map.storage != operand.storage || map.type != type_of(operand) || map.offset != operand.offset || map.rank != 4)
    return what + "which is of another tensor";
  if (map.swizzle != shape.swizzle) return fmt::format("{}whose swizzle is {}", what, program::name_of(map.swizzle));
  for (std::size_t d = 0; d < shape.dims.size(); ++d) {
    const auto size = static_cast<std::uint64_t>(operand.sizes[shape.dims[d]]);
    const auto stride = static_cast<std::uint64_t>(operand.strides[shape.dims[d]]);
    const bool single = size == 1 || (shape.broadcast && stride == 0);
    const std::uint64_t wanted = single ? 1 : size;
    if (map.sizes[d] != wanted)
      return fmt::format("{}of {} elements in dimension {}, not {}", what, map.sizes[d], d, wanted);
    if (!single && map.strides[d] != stride * element)
      return fmt::format("{}of {} bytes a step in dimension {}, not {}", what, map.strides[d], d, stride * element);
    if (const std::uint32_t box = d < 2 ? shape.box[d] : 1; map.box[d] != box)
      return fmt::format("{}whose box has {} elements in dimension {}, not {}", what, map.box[d], d, box);
  }
  return std::nullopt;
}

Fault unmapped_fault(const NodeRecord& record, int first) {
  for (int k = first; k < record.operand_count; ++k)
    if (is_mapped(record.operands[k]))
      return fmt::format("operand {} has tensor map {}; it is moved without", k, record.operands[k].map);
  return std::nullopt;
}

Fault code_fault(const NodeRecord& record, int first_input, int temporaries) {
  unsigned stored = 0;
  for (int i = 0; i < record.code_count; ++i) {
    const CodeWord& word = record.code[i];
    const auto op = static_cast<CodeOp>(word.op);
    if (op == CodeOp::store) {
      if (!is_output(record, word.third)) return fmt::format("code word {} writes operand {}, an input", i, word.third);
      stored |= 1u << word.third;
      continue;
    }
    if (Fault fault = source_fault(record, word.source, first_input, temporaries))
      return fmt::format("code word {} reads {}", i, *fault);
    const int third = word.third & ~program::kRoundsAfter;
    if ((op == CodeOp::keep || op == CodeOp::where) && third >= temporaries)
      return fmt::format("code word {} names temporary {} of {}", i, third, temporaries);
  }
  for (int k = record.operand_count - record.output_count; k < record.operand_count; ++k)
    if ((stored >> k & 1) == 0) return fmt::format("the code never writes operand {}, an output", k);
  return std::nullopt;
}

Fault tile_fault(const NodeRecord& record, const program::Instruction& instruction, int words) {
  if (instruction.index_count != words)
    return fmt::format("it has {} index words, not {}", instruction.index_count, words);
  const std::int32_t* index = instruction.index;
  for (int d = 0; d < 2; ++d)
    if (index[d] < 0 || index[d] >= record.extents[d])
      return fmt::format("position {} of {} in dimension {}", index[d], record.extents[d], d);
  const std::int64_t row = index[kRow], rows = index[kRows], column = index[kColumn], columns = index[kColumns];
  // A tile without rows may stand behind the last one, where a pair has room for two.
  constexpr std::int64_t kPairRows = 256;
  if (row < 0 || rows < 0 || row + rows > std::int64_t{record.extents[2]} + (rows > 0 ? 0 : kPairRows))
    return fmt::format("rows {} to {} of {}", row, row + rows, record.extents[2]);
  if (column < 0 || columns < 1 || column + columns > record.extents[3])
    return fmt::format("columns {} to {} of {}", column, column + columns, record.extents[3]);
  if (column % kRunColumns != 0)
    return fmt::format("it begins at column {}, which is no multiple of {}", column, kRunColumns);
  return std::nullopt;
}

}  // namespace megakittens::ops
