#include "ops/elementwise/space.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise/arguments.hpp"
#include "support/error.hpp"

namespace megakittens::ops::elementwise {
namespace {

constexpr int kRank = program::kMaxTileRank;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

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

std::vector<ir::Box> boxes_of(const ir::Extents& sizes, Stretch stretch) {
  std::vector<ir::Box> boxes;
  if (std::ranges::any_of(sizes, [](std::int64_t size) { return size <= 0; })) return boxes;
  stretch.end = std::min(stretch.end, ir::element_count(sizes));
  std::int64_t begin = std::max<std::int64_t>(stretch.begin, 0);
  while (begin < stretch.end) {
    // The largest box that begins here: whole dimensions from the last one on, then a range of the next.
    int d = kRank - 1;
    std::int64_t inner = 1;
    while (d > 0 && begin % (inner * sizes[d]) == 0 && begin + inner * sizes[d] <= stretch.end) inner *= sizes[d--];
    const std::int64_t first = begin / inner % sizes[d];
    const std::int64_t count = std::min(sizes[d] - first, (stretch.end - begin) / inner);
    ir::Box box{.lo = ir::Extents(kRank, 0), .hi = sizes};
    std::int64_t outside = begin / inner / sizes[d];
    for (int o = d - 1; o >= 0; --o) {
      box.lo[o] = outside % sizes[o];
      box.hi[o] = box.lo[o] + 1;
      outside /= sizes[o];
    }
    box.lo[d] = first;
    box.hi[d] = first + count;
    boxes.push_back(std::move(box));
    begin += count * inner;
  }
  return boxes;
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

/// Pages for so many bytes an element of gathered inputs.
int staging_pages(int gathered, bool narrow) {
  const int of_page = kStagingBytesOfPage * (narrow ? 2 : 1);
  return (gathered + of_page - 1) / of_page;
}

Pieces tail_of(const Space& space, Pieces pieces) {
  int bytes = 0;
  for (std::size_t k = 0; k < pieces.modes.size(); ++k) {
    if (pieces.modes[k] == kScalar) continue;
    pieces.modes[k] = kByElements;
    if (static_cast<int>(k) < space.inputs) bytes += ir::size_of(space.types[k]);
  }
  pieces.piece = pieces.depth = 0;
  pieces.narrow = pieces.narrow || bytes > kMostInputBytes / 2;
  pieces.staging = staging_pages(bytes, pieces.narrow);
  return pieces;
}

Pieces pieces_of(const Space& space, const program::Config& config, bool ring) {
  Pieces pieces{.modes = modes_of(space, ring), .narrow = space.narrow};
  int element_bytes = 0, gathered = 0;
  for (int k = 0; k < space.inputs; ++k) {
    if (pieces.modes[k] == kDense) element_bytes += ir::size_of(space.types[k]);
    if (pieces.modes[k] != kDense && pieces.modes[k] != kScalar) gathered += ir::size_of(space.types[k]);
  }
  pieces.staging = staging_pages(gathered, pieces.narrow);
  if (element_bytes == 0) return pieces;
  pieces.piece = 8 * kBlock;
  while (pieces.piece * element_bytes > config.page_bytes) pieces.piece /= 2;
  while (2 * pieces.per_page * pieces.piece * element_bytes <= config.page_bytes) pieces.per_page *= 2;
  constexpr std::int64_t kMostStages = 8;
  pieces.depth = static_cast<int>(
      std::min<std::int64_t>(kMostStages, std::int64_t{pieces.per_page} * (config.pages - pieces.staging)));
  return pieces;
}

std::vector<std::int32_t> index_words(const program::NodeRecord& record, const Pieces& pieces, Stretch stretch,
                                      const std::array<std::int64_t, program::kMaxTileRank>& first) {
  std::uint64_t modes = 0;
  for (std::size_t k = 0; k < pieces.modes.size(); ++k) modes |= std::uint64_t{pieces.modes[k]} << (4 * k);
  const std::int64_t shape = record.operand_count | (pieces.narrow ? kNarrow : 0) | std::int64_t{pieces.staging} << 5 |
                             pieces.piece / kBlock << 8 | std::int64_t{pieces.depth} << 16 |
                             std::int64_t{pieces.per_page} << 24;
  std::vector<std::int32_t> words;
  for (std::uint64_t word :
       {std::uint64_t{0}, std::uint64_t{0}, static_cast<std::uint64_t>(stretch.begin),
        static_cast<std::uint64_t>(stretch.begin) >> 32, static_cast<std::uint64_t>(stretch.end - stretch.begin),
        static_cast<std::uint64_t>(first[0]), static_cast<std::uint64_t>(first[1]),
        static_cast<std::uint64_t>(first[2]), static_cast<std::uint64_t>(first[3]), static_cast<std::uint64_t>(shape),
        modes, modes >> 32})
    words.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(word)));
  words.resize(kIndexCount);
  return words;
}

void set_plan(NodePlan& plan, Space space, const Pieces& pieces) {
  plan.record = space.record;
  plan.views = std::move(space.views);
  std::int64_t elements = ir::element_count(plan.views[0].sizes);
  for (std::size_t k = 0; k < plan.views.size(); ++k) {
    if (pieces.modes[k] >= kVectorRun) plan.record.operands[k].flags |= program::kOperandBulk;
    std::int64_t touched = 1;
    for (int d = 0; d < plan.views[k].rank(); ++d)
      touched *= plan.views[k].strides[d] == 0 ? 1 : plan.views[k].sizes[d];
    plan.cost.bytes += touched * ir::size_of(space.types[k]);
  }
  plan.cost.operations = elements * plan.record.code_count;
}

StretchPlan::StretchPlan(Space space, Pieces pieces, std::int64_t wanted)
    : pieces_(std::move(pieces)), tail_(tail_of(space, pieces_)), inputs_(space.inputs) {
  set_plan(*this, std::move(space), pieces_);
  elements_ = ir::element_count(views[0].sizes);
  const std::int64_t blocks = divide_up(elements_ / kGrain * kGrain, kBlock);
  even_ = std::min(blocks, std::max(wanted, divide_up(blocks, kMostElements / kBlock)));
  count = even_ + (elements_ % kGrain != 0 ? 1 : 0);
}

Stretch StretchPlan::stretch(std::int64_t i) const {
  const std::int64_t whole = elements_ / kGrain * kGrain;
  if (i == even_) return {whole, elements_};
  const std::int64_t blocks = divide_up(whole, kBlock);
  auto at = [&](std::int64_t n) { return std::min(n * blocks / even_ * kBlock, whole); };
  return {at(i), at(i + 1)};
}

InstructionPlan StretchPlan::instruction(std::int64_t i) const {
  MK_CHECK(i >= 0 && i < count, "instruction {} of {}", i, count);
  const Stretch part = stretch(i);
  const ir::Extents& sizes = views[0].sizes;
  std::array<std::int64_t, kRank> first{};
  std::int64_t rest = part.begin;
  for (int d = kRank - 1; d >= 0; --d) {
    first[d] = rest % sizes[d];
    rest /= sizes[d];
  }
  InstructionPlan plan;
  plan.index = index_words(record, i == even_ ? tail_ : pieces_, part, first);
  for (const ir::Box& box : boxes_of(sizes, part))
    for (int k = 0; k < static_cast<int>(views.size()); ++k)
      (k < inputs_ ? plan.reads : plan.writes).push_back({.operand = k, .box = box});
  return plan;
}

}  // namespace megakittens::ops::elementwise
