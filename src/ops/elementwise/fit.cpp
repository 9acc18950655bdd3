#include "ops/elementwise/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ops/elementwise/arguments.hpp"

namespace megakittens::ops::elementwise {
namespace {

using program::ElementType;
using program::NodeRecord;
using program::OperandRecord;

constexpr int kRank = program::kMaxTileRank;
constexpr std::uint32_t kMostStages = 8;

std::int64_t element_count(const NodeRecord& record) {
  std::int64_t count = 1;
  for (std::int32_t extent : record.extents) count *= extent;
  return count;
}

Fault parameters_fault(const NodeRecord& record) {
  for (int d = 0; d < 3; ++d) {
    const std::int32_t size = std::max(record.extents[kRank - 1 - d], 1);
    const Division by = Division::by(static_cast<std::uint32_t>(size));
    if (record.parameters[kColumns + d] != size ||
        static_cast<std::uint32_t>(record.parameters[kColumnsMagic + d]) != by.magic ||
        (static_cast<std::uint32_t>(record.parameters[kShifts]) >> (8 * d) & 0xff) != by.shift)
      return fmt::format("its parameters do not divide by {}, its extent in dimension {}", size, kRank - 1 - d);
  }
  if (element_count(record) != record.extents[3] && std::int64_t{record.extents[3]} + 2 * kMostElements > INT32_MAX)
    return fmt::format("{} columns in several rows", record.extents[3]);
  return std::nullopt;
}

bool fixed(const OperandRecord& operand, int d) {
  return operand.sizes[d] == 1 || operand.strides[d] == 0;
}

bool dense(const OperandRecord& operand) {
  std::int64_t inner = 1;
  for (int d = kRank - 1; d >= 0; --d) {
    if (operand.sizes[d] != 1 && operand.strides[d] != inner) return false;
    inner *= operand.sizes[d];
  }
  return true;
}

/// Why operand k does not move in that mode.
Fault mode_fault(const NodeRecord& record, int k, std::uint32_t mode) {
  const OperandRecord& operand = record.operands[k];
  const std::int64_t bytes = program::size_of(type_of(operand));
  const bool runs = record.extents[3] % 8 == 0;
  const bool aligned = operand.offset * bytes % 16 == 0 && (operand.flags & program::kOperandBulk) != 0;
  auto pitched = [&](int d) { return operand.sizes[d] == 1 || operand.strides[d] * bytes % 16 == 0; };
  bool suits = false;
  switch (mode) {
    case kByElements:
      suits = true;
      break;
    case kScalar:
      suits = !is_output(record, k) && fixed(operand, 0) && fixed(operand, 1) && fixed(operand, 2) && fixed(operand, 3);
      break;
    case kConstantRun:
      suits = !is_output(record, k) && runs && operand.strides[3] == 0;
      break;
    case kVectorRun:
      suits = runs && aligned && operand.strides[3] == 1 && is_floating(type_of(operand)) && pitched(0) && pitched(1) &&
              pitched(2);
      break;
    case kDense:
      suits = aligned && dense(operand);
      break;
    default:
      break;
  }
  if (suits) return std::nullopt;
  return fmt::format("operand {} does not move in mode {}", k, mode);
}

Fault stretch_fault(const NodeRecord& record, const std::int32_t* index) {
  if (index[kOuter0] != 0 || index[kOuter1] != 0)
    return fmt::format("its windows begin at ({}, {})", index[kOuter0], index[kOuter1]);
  const auto begin = static_cast<std::int64_t>(begin_of(index[kBeginLow], index[kBeginHigh]));
  const std::int64_t elements = index[kElements], all = element_count(record);
  if (elements < 1 || elements > std::int64_t{kMostElements} || begin < 0 || begin > all - elements)
    return fmt::format("elements {} to {} of {}", begin, begin + elements, all);
  std::int64_t position = 0;
  for (int d = 0; d < kRank; ++d) {
    const std::int64_t at = index[kFirst0 + d];
    if (at < 0 || at >= record.extents[d])
      return fmt::format("position {} of {} in dimension {}", at, record.extents[d], d);
    position = position * record.extents[d] + at;
  }
  if (const std::int64_t width = index[kWidth]; width != 0) {
    const Division by = Division::by(static_cast<std::uint32_t>(std::max<std::int64_t>(width, 1)));
    if (width < 0 || index[kFirstColumn] + width > record.extents[3] || elements % width != 0 ||
        index[kFirstRow] + elements / width > record.extents[2] ||
        static_cast<std::uint32_t>(index[kWidthMagic]) != by.magic ||
        static_cast<std::uint32_t>(index[kWidthShift]) != by.shift)
      return fmt::format("{} elements in rows of {} from row {} and column {} on", elements, width, index[kFirstRow],
                         index[kFirstColumn]);
  }
  if (position != begin) return fmt::format("it begins at element {}, and its position is that of {}", begin, position);
  return std::nullopt;
}

/// Where the ring lies in the pages.
Fault ring_fault(const program::Program& program, std::uint32_t shape, std::int64_t element_bytes) {
  const std::uint32_t blocks = shape >> 8 & 0xff, depth = shape >> 16 & 0xff, per_page = shape >> 24;
  if (element_bytes == 0) return depth == 0 ? Fault() : Fault(fmt::format("a ring of {} stages for nothing", depth));
  if (depth == 0 || depth > kMostStages || blocks == 0 || !std::has_single_bit(per_page) ||
      depth > per_page * (program.config.pages - (shape >> 5 & 3)))
    return fmt::format("a ring of {} stages of {} blocks, {} a page", depth, blocks, per_page);
  const std::int64_t room = program.config.page_bytes / per_page;
  if (std::int64_t{blocks} * kBlock * element_bytes > room)
    return fmt::format("stages of {} bytes, {} of them in a page of {}", std::int64_t{blocks} * kBlock * element_bytes,
                       per_page, program.config.page_bytes);
  return std::nullopt;
}

}  // namespace

Fault record_fault(const NodeRecord& record) {
  if (record.output_count == 0) return "it has no output";
  if (Fault fault = unmapped_fault(record, 0)) return fault;
  for (int k = 0; k < record.operand_count; ++k) {
    const bool bulk = (record.operands[k].flags & program::kOperandBulk) != 0;
    if (Fault fault = operand_fault(record, k,
                                    {record.extents[0], record.extents[1], record.extents[2], record.extents[3]}, bulk))
      return fault;
    const ElementType type = type_of(record.operands[k]);
    if (is_output(record, k) && !is_floating(type) && type != ElementType::boolean)
      return fmt::format("operand {} is an output of type {}", k, program::name_of(type));
  }
  if (Fault fault = parameters_fault(record)) return fault;
  return code_fault(record, 0, program::kTemporaries);
}

Fault instruction_fault(const program::Program& program, const NodeRecord& record,
                        const program::Instruction& instruction) {
  if (instruction.index_count != kIndexCount)
    return fmt::format("it has {} index words, not {}", instruction.index_count, int{kIndexCount});
  const std::int32_t* index = instruction.index;
  if (Fault fault = stretch_fault(record, index)) return fault;
  const auto shape = static_cast<std::uint32_t>(index[kShape]);
  if ((shape & 0x1f) != record.operand_count)
    return fmt::format("its shape word is of {} operands, not {}", shape & 0x1f, record.operand_count);
  if ((shape & kNarrow) == 0)
    if (Fault fault = code_fault(record, 0, kWideTemporaries)) return fault;
  std::int64_t element_bytes = 0, gathered = 0;
  bool by_elements = true, dense = false;
  for (int k = 0; k < record.operand_count; ++k) {
    const std::uint32_t mode = static_cast<std::uint32_t>(index[k < 8 ? kModesLow : kModesHigh]) >> (4 * (k % 8)) & 15;
    if (Fault fault = mode_fault(record, k, mode)) return fault;
    by_elements = by_elements && (mode == kByElements || mode == kScalar);
    if (mode == kDense) dense = true;
    if (!is_output(record, k) && mode != kScalar)
      (mode == kDense ? element_bytes : gathered) += program::size_of(type_of(record.operands[k]));
  }
  const std::int64_t staging = shape >> 5 & 3, of_page = kStagingBytesOfPage * ((shape & kNarrow) != 0 ? 2 : 1);
  if (staging != (gathered + of_page - 1) / of_page)
    return fmt::format("{} pages for {} bytes an element of gathered inputs", staging, gathered);
  const auto low = static_cast<std::uint32_t>(index[kBeginLow]);
  const bool rectangle = index[kWidth] != 0;
  if (rectangle && dense) return "a rectangle is not dense";
  if (rectangle && !by_elements && (index[kWidth] % 8 != 0 || index[kFirstColumn] % 8 != 0))
    return fmt::format("{} columns from {} on are not whole runs", index[kWidth], index[kFirstColumn]);
  if (!rectangle && !by_elements && (low % kGrain != 0 || static_cast<std::uint32_t>(index[kElements]) % kGrain != 0))
    return fmt::format("{} elements from {} on are not whole runs", index[kElements], low);
  return ring_fault(program, shape, element_bytes);
}

}  // namespace megakittens::ops::elementwise
