#include "ops/user/user_type.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ops/common/merge.hpp"
#include "ops/user/arguments.hpp"
#include "support/error.hpp"

namespace megakittens::ops {
namespace {

using megakittens::Extents;
using program::NodeRecord;

constexpr std::uint32_t kBits = 4, kPerWord = 8, kMostMiddle = Extents::kMost - program::kMaxTileRank;

std::uint32_t middle_of(const NodeRecord& record, std::uint32_t k) {
  const auto word = static_cast<std::uint32_t>(record.parameters[kUserMiddle + k / kPerWord]);
  return word >> (kBits * (k % kPerWord)) & 15;
}

/// The first of operand k's words, also for one that is about to be appended.
std::uint32_t first_word(const NodeRecord& record, std::uint32_t k) {
  std::uint32_t word = 0;
  for (std::uint32_t j = 0; j < k; ++j) word += 2 * middle_of(record, j);
  return word;
}

}  // namespace

Fault add_operand(NodeRecord& record, const ir::View& view, ir::DType dtype, bool output) {
  const std::uint32_t k = record.operand_count;
  const auto middle = static_cast<std::uint32_t>(view.rank() - program::kMaxTileRank);
  const std::uint32_t word = first_word(record, k);
  if (word + 2 * middle > kUserMiddleWords)
    return fmt::format(
        "operand {} has {} dimensions, and one call may have eight tensors of five dimensions, four of six, or two of "
        "seven or eight: reshape it before the call",
        k, view.rank());
  ir::View four = view;
  for (std::uint32_t d = 0; d < middle; ++d) {
    const std::int64_t size = view.sizes[2 + d], stride = view.strides[2 + d];
    if (stride > INT32_MAX)
      return fmt::format("operand {} has stride {} in dimension {}, the limit is {}: pass a contiguous copy", k, stride,
                         2 + d, INT32_MAX);
    record.reserved[word + d] = static_cast<std::uint32_t>(size);
    record.reserved[word + middle + d] = static_cast<std::uint32_t>(stride);
  }
  four.sizes.erase(four.sizes.begin() + 2, four.sizes.begin() + 2 + middle);
  four.strides.erase(four.strides.begin() + 2, four.strides.begin() + 2 + middle);
  if (Fault fault = stride_problem(four, dtype)) return fault;
  record.parameters[kUserMiddle + k / kPerWord] |= static_cast<std::int32_t>(middle << (kBits * (k % kPerWord)));
  record.operands[k] = operand_record(four, dtype, output);
  record.operand_count = static_cast<std::uint16_t>(k + 1);
  record.output_count = static_cast<std::uint16_t>(record.output_count + (output ? 1 : 0));
  std::copy_n(record.operands[k].sizes, program::kMaxTileRank, record.extents);
  return std::nullopt;
}

std::vector<OperandInfo> operands_of(const NodeRecord& record) {
  std::vector<OperandInfo> infos;
  for (std::uint32_t k = 0; k < record.operand_count; ++k) {
    const program::OperandRecord& operand = record.operands[k];
    const std::uint32_t middle = middle_of(record, k), word = first_word(record, k);
    if (middle > kMostMiddle || word + 2 * middle > kUserMiddleWords)
      throw FormatError(
          fmt::format("node record {}: operand {} has {} dimensions beyond four", record.number, k, middle));
    OperandInfo& info = infos.emplace_back();
    info.dtype = static_cast<DType>(operand.type);
    info.output = (operand.flags & program::kOperandOutput) != 0;
    info.bulk = is_mapped(operand);
    info.rank = static_cast<int>(program::kMaxTileRank + middle);
    info.sizes = info.strides = Extents::of_rank(static_cast<std::size_t>(info.rank));
    for (std::uint32_t d = 0; d < info.sizes.size(); ++d) {
      const bool between = d >= 2 && d < 2 + middle;
      const std::uint32_t own = d < 2 ? d : d - middle;
      info.sizes[d] = between ? record.reserved[word + d - 2] : operand.sizes[own];
      info.strides[d] = between ? record.reserved[word + middle + d - 2] : operand.strides[own];
    }
  }
  return infos;
}

BodyOperands::BodyOperands(const NodeRecord& record) {
  const std::int32_t count = record.parameters[kUserBody];
  end = record.operand_count - record.output_count;
  if (count < 0 || count > end)
    throw FormatError(
        fmt::format("node record {}: its code has {} of {} inputs for itself", record.number, count, end));
  first = end - count;
}

std::vector<OperandInfo> BodyOperands::without(std::vector<OperandInfo> operands) const {
  operands.erase(operands.begin() + first, operands.begin() + end);
  return operands;
}

Fault middle_fault(const program::Program& program, const NodeRecord& record) {
  for (std::uint32_t k = 0; k < program::kMaxOperands; ++k)
    if (const std::uint32_t middle = middle_of(record, k);
        middle > (k < record.operand_count ? kMostMiddle : 0) || first_word(record, k + 1) > kUserMiddleWords)
      return fmt::format("operand {} has {} dimensions beyond four", k, middle);
  for (std::uint32_t w = first_word(record, program::kMaxOperands); w < kUserMiddleWords; ++w)
    if (record.reserved[w] != 0) return fmt::format("reserved word {} is not zero", w);
  const std::vector<OperandInfo> infos = operands_of(record);
  for (std::size_t k = 0; k < infos.size(); ++k) {
    const program::OperandRecord& operand = record.operands[k];
    __extension__ __int128 last = operand.offset;
    for (std::size_t d = 0; d < infos[k].sizes.size(); ++d) {
      if (infos[k].sizes[d] > program::kMaxExtent)
        return fmt::format("operand {} has {} elements in dimension {}", k, infos[k].sizes[d], d);
      last += static_cast<decltype(last)>(infos[k].sizes[d] - 1) * infos[k].strides[d];
    }
    const bool empty = std::ranges::count(infos[k].sizes, 0) > 0;
    if (!empty && (last + 1) * program::size_of(type_of(operand)) > program.storages[operand.storage].bytes)
      return fmt::format("operand {} reaches past the end of storage {}", k, operand.storage);
  }
  return std::nullopt;
}

void set_clocks(NodeRecord& record, std::uint64_t clocks) {
  record.parameters[kUserClocksLow] = static_cast<std::int32_t>(static_cast<std::uint32_t>(clocks));
  record.parameters[kUserClocksHigh] = static_cast<std::int32_t>(static_cast<std::uint32_t>(clocks >> 32));
}

std::uint64_t clocks_of(const NodeRecord& record) {
  const std::uint64_t high = static_cast<std::uint32_t>(record.parameters[kUserClocksHigh]);
  return high << 32 | static_cast<std::uint32_t>(record.parameters[kUserClocksLow]);
}

}  // namespace megakittens::ops
