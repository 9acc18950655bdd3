#include "ops/elementwise/space.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise/arguments.hpp"
#include "support/error.hpp"

namespace megakittens::ops::elementwise {
namespace {

constexpr int kRank = program::kMaxTileRank;

std::optional<std::string> type_problem(const ir::Graph& graph, const ir::Node& node) {
  for (ir::ValueId id : node.outputs)
    if (std::optional<std::string> problem = unsuited_result(graph.value(id).tensor.dtype)) return problem;
  return std::nullopt;
}

/// Why positions in the space are not counted in 32 bits.
std::optional<std::string> size_problem(const ir::Extents& sizes) {
  for (std::int64_t size : sizes)
    if (size > program::kMaxExtent)
      return fmt::format("a dimension of {} elements is over the limit of {}", size, program::kMaxExtent);
  constexpr std::int64_t kMostColumns = 0x7fffffff - 2 * std::int64_t{kMostElements};
  if (ir::element_count(sizes) != sizes[3] && sizes[3] > kMostColumns)
    return fmt::format("{} elements in the last of several dimensions are over the limit of {}", sizes[3],
                       kMostColumns);
  return std::nullopt;
}

void set_parameters(program::NodeRecord& record) {
  std::uint32_t shifts = 0;
  for (int d = 0; d < 3; ++d) {
    const auto size = static_cast<std::uint32_t>(std::max(record.extents[kRank - 1 - d], 1));
    const Division by = Division::by(size);
    record.parameters[kColumns + d] = static_cast<std::int32_t>(size);
    record.parameters[kColumnsMagic + d] = static_cast<std::int32_t>(by.magic);
    shifts |= by.shift << (8 * d);
  }
  record.parameters[kShifts] = static_cast<std::int32_t>(shifts);
}

}  // namespace

std::variant<Space, std::string> make_space(const ir::Graph& graph, const ir::Node& node, int keep) {
  std::optional<ir::PointwiseBody> body = body_of(node);
  if (!body) return fmt::format("'{}' is no pointwise operation", ir::op_of(node));
  if (auto problem = type_problem(graph, node)) return *problem;
  std::size_t total = node.operands.size() + node.outputs.size();
  if (total > program::kMaxOperands)
    return fmt::format("it has {} operands and results, the limit is {}", total, program::kMaxOperands);
  Space space;
  space.inputs = static_cast<int>(node.operands.size());
  std::vector<ir::View> views;
  for (const ir::Operand& operand : node.operands) {
    views.push_back(operand.view);
    space.types.push_back(graph.value(operand.value).tensor.dtype);
  }
  std::vector<ir::DType> output_types;
  for (std::size_t k = 0; k < node.outputs.size(); ++k) {
    views.push_back(output_view(graph, node, static_cast<int>(k)));
    output_types.push_back(graph.value(node.outputs[k]).tensor.dtype);
    space.types.push_back(output_types.back());
  }
  std::optional<MergedSpace> merged = merge_dimensions(views, keep);
  if (!merged)
    return fmt::format("its operands need more than {} dimensions even after merging", program::kMaxTileRank);
  auto code = compile_pointwise(*body, 0, space.inputs, output_types, kWideTemporaries);
  if (std::holds_alternative<std::string>(code)) {
    space.narrow = true;
    code = compile_pointwise(*body, 0, space.inputs, output_types);
  }
  if (auto* problem = std::get_if<std::string>(&code)) return *problem;
  if (auto problem = size_problem(merged->sizes)) return *problem;
  for (std::size_t k = 0; k < total; ++k)
    if (auto problem = stride_problem(merged->views[k], space.types[k])) return *problem;

  program::NodeRecord& record = space.record;
  record.operand_count = static_cast<std::uint16_t>(total);
  record.output_count = static_cast<std::uint16_t>(node.outputs.size());
  for (std::size_t k = 0; k < total; ++k)
    record.operands[k] = operand_record(merged->views[k], space.types[k], static_cast<int>(k) >= space.inputs);
  for (int d = 0; d < program::kMaxTileRank; ++d) record.extents[d] = static_cast<std::int32_t>(merged->sizes[d]);
  set_parameters(record);
  set_code(record, std::get<Code>(code));
  space.views = std::move(merged->views);
  int bytes = 0, gathered = 0;  // of an element of all inputs, and of those that are gathered
  const std::vector<Mode> modes = modes_of(space, keep == 0);
  for (int k = 0; k < space.inputs; ++k) {
    if (modes[k] == kScalar) continue;
    bytes += ir::size_of(space.types[k]);
    if (modes[k] != kDense) gathered += ir::size_of(space.types[k]);
  }
  if (bytes > kMostInputBytes)
    return fmt::format("its inputs have {} bytes an element together, the limit is {}: write it in steps", bytes,
                       kMostInputBytes);
  if (gathered > kMostInputBytes / 2) space.narrow = true;
  return space;
}

namespace {

/// Row-major in the space, whatever the strides of dimensions of one element.
bool dense(const ir::View& view) {
  std::int64_t inner = 1;
  for (int d = kRank - 1; d >= 0; --d) {
    if (view.sizes[d] != 1 && view.strides[d] != inner) return false;
    inner *= view.sizes[d];
  }
  return true;
}

Mode mode_for(const ir::View& view, ir::DType type, bool output, bool ring) {
  const std::int64_t bytes = ir::size_of(type);
  auto fixed = [&](int d) { return view.sizes[d] == 1 || view.strides[d] == 0; };
  auto aligned = [&](int d) { return view.sizes[d] == 1 || view.strides[d] * bytes % 16 == 0; };
  const bool runs = view.sizes[3] % 8 == 0, at_vector = view.offset * bytes % 16 == 0;
  if (ring && at_vector && dense(view)) return kDense;
  if (!output && fixed(0) && fixed(1) && fixed(2) && fixed(3)) return kScalar;
  if (!output && runs && view.strides[3] == 0) return kConstantRun;
  if (runs && at_vector && view.strides[3] == 1 && ir::is_floating(type) && aligned(0) && aligned(1) && aligned(2))
    return kVectorRun;
  return kByElements;
}

}  // namespace

std::vector<Mode> modes_of(const Space& space, bool ring) {
  std::vector<Mode> modes;
  for (std::size_t k = 0; k < space.views.size(); ++k)
    modes.push_back(mode_for(space.views[k], space.types[k], static_cast<int>(k) >= space.inputs, ring));
  return modes;
}

}  // namespace megakittens::ops::elementwise
