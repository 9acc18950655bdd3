#include "ops/elementwise/elementwise.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise/arguments.hpp"
#include "ops/elementwise/fit.hpp"
#include "ops/elementwise/space.hpp"
#include "ops/icodes.hpp"

namespace megakittens::ops {

using namespace elementwise;

namespace {

/// Which operands travel by bulk copy, and how many slots a tile needs.
struct Slots {
  std::vector<bool> mapped;
  std::vector<int> number;  ///< of each operand's slot in a tile, -1 without
  int per_tile = 0;
  int largest_element = 1;
};

/// Matrix operands (no broadcast along rows or columns) get a slot; vectors and scalars are read by ordinary loads.
std::optional<Slots> assign_slots(const Space& space) {
  Slots slots;
  int lender = -1;  // an input whose slot an output of the same element size may take over
  // Of several results the first would be stored before the others' code has read the input.
  const bool lends = static_cast<int>(space.views.size()) == space.inputs + 1;
  for (std::size_t k = 0; k < space.views.size(); ++k) {
    const ir::View& view = space.views[k];
    bool output = static_cast<int>(k) >= space.inputs;
    bool matrix = view.strides[3] != 0 && view.strides[2] != 0;
    int bytes = ir::size_of(space.types[k]);
    if (output && !bulk_storable(view, space.types[k])) return std::nullopt;
    slots.mapped.push_back(output || (matrix && bulk_suited(view, space.types[k])));
    if (!output && matrix && !slots.mapped.back()) return std::nullopt;
    slots.number.push_back(-1);
    if (!slots.mapped.back()) continue;
    slots.largest_element = std::max(slots.largest_element, bytes);
    if (output && lends && lender >= 0 && ir::size_of(space.types[lender]) == bytes) {
      slots.number.back() = slots.number[lender];
      lender = -1;
      continue;
    }
    if (!output && lender < 0) lender = static_cast<int>(k);
    slots.number.back() = slots.per_tile++;
  }
  return slots;
}

}  // namespace

std::vector<Region> Elementwise::regions(const program::NodeRecord& record,
                                         const program::Instruction& instruction) const {
  return rectangle_regions(record, instruction);
}

std::optional<std::string> Elementwise::record_fault(const program::Program& program, const program::NodeRecord& record,
                                                     std::uint16_t) const {
  return elementwise::record_fault(program, record, true);
}

std::optional<std::string> Elementwise::instruction_fault(const program::Program& program,
                                                          const program::NodeRecord& record,
                                                          const program::Instruction& instruction) const {
  return elementwise::instruction_fault(program, record, instruction, true);
}

std::optional<std::string> Elementwise::unsuited(const ir::Graph& graph, const ir::Node& node,
                                                 const PlanOptions& options) const {
  auto made = make_space(graph, node);
  if (auto* problem = std::get_if<std::string>(&made)) return fmt::format("elementwise: {}", *problem);
  const Space& space = std::get<Space>(made);
  if (ir::element_count(space.views[0].sizes) == 0) return "elementwise: there are no elements";
  if (space.single_row) return "elementwise: a single row has no tiles";
  if (space.views[0].sizes[3] < kTileColumns) return "elementwise: rows are shorter than a tile";
  std::optional<Slots> slots = assign_slots(space);
  if (!slots)
    return "elementwise: an operand's base, strides or pitch, or a result's row, do not suit bulk copies (multiples of "
           "16 bytes)";
  if (slots->per_tile == 0) return "elementwise: no operand is a matrix";
  if (options.tiling == Tiling::seed && slots->per_tile > 3)
    return "elementwise: the seed's tile of 128 rows holds at most three operands";
  return std::nullopt;
}

std::unique_ptr<NodePlan> Elementwise::plan(const ir::Graph& graph, const ir::Node& node,
                                            const PlanOptions& options) const {
  Space space = std::get<Space>(make_space(graph, node));
  Slots slots = *assign_slots(space);
  const ir::Extents& sizes = space.views[0].sizes;
  int pages = static_cast<int>(options.config.pages);
  int page_bytes = static_cast<int>(options.config.page_bytes);
  int tile_rows = kMostTileRows;
  auto slot_bytes = [&] { return tile_rows * kTileColumns * slots.largest_element; };
  auto tiles_that_fit = [&] {
    return slot_bytes() > page_bytes ? 0 : page_bytes / slot_bytes() * pages / slots.per_tile;
  };
  bool seed = options.tiling == Tiling::seed;
  int wanted_tiles = seed ? 2 : 1;
  while (tiles_that_fit() < wanted_tiles && tile_rows > 8) tile_rows /= 2;
  if (!seed) tile_rows = static_cast<int>(rows_for_parallelism(sizes, kTileColumns, tile_rows, 16, options.config.sms));
  std::int64_t column_tiles = (sizes[3] + kTileColumns - 1) / kTileColumns;
  std::int64_t row_blocks = sizes[0] * sizes[1] * ((sizes[2] + tile_rows - 1) / tile_rows);
  int tiles = wanted_tiles;
  // Longer instructions cost fewer hand-offs, as long as every SM still has work.
  while (!seed && tiles < 4 && tiles * 2 <= tiles_that_fit() &&
         row_blocks * ((column_tiles + 2 * tiles - 1) / (2 * tiles)) >= 2 * options.config.sms)
    tiles *= 2;

  std::vector<std::int32_t> shape{shape_word(space, tile_rows), slot_bytes(),
                                  slots.per_tile | page_bytes / slot_bytes() << 16};
  std::uint64_t numbers = 0;
  for (std::size_t k = 0; k < slots.number.size(); ++k)
    numbers |= static_cast<std::uint64_t>(std::max(slots.number[k], 0)) << (4 * k);
  shape.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(numbers)));
  shape.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(numbers >> 32)));
  std::vector<program::TensorMapDescription> maps;
  for (std::size_t k = 0; k < space.views.size(); ++k) {
    if (!slots.mapped[k]) continue;
    space.record.operands[k].map = static_cast<std::uint16_t>(maps.size());
    space.record.operands[k].flags |= program::kOperandBulk;
    maps.push_back(tensor_map(space.views[k], space.types[k], static_cast<int>(k), kTileColumns,
                              static_cast<std::uint32_t>(tile_rows), program::Swizzle::none));
  }
  auto plan = std::make_unique<RectanglePlan>(std::move(space), tile_rows, std::int64_t{kTileColumns} * tiles, shape);
  plan->icode = kIcode_elementwise;
  plan->maps = std::move(maps);
  return plan;
}

}  // namespace megakittens::ops
