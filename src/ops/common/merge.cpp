#include "ops/common/merge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"

namespace megakittens::ops {
namespace {

bool joins(const std::vector<ir::View>& views, int outer, int inner) {
  return std::all_of(views.begin(), views.end(), [&](const ir::View& view) {
    return view.strides[outer] == view.strides[inner] * view.sizes[inner];
  });
}

void erase_dimension(std::vector<ir::View>& views, int dim) {
  for (ir::View& view : views) {
    view.sizes.erase(view.sizes.begin() + dim);
    view.strides.erase(view.strides.begin() + dim);
  }
}

}  // namespace

std::optional<MergedSpace> merge_dimensions(const std::vector<ir::View>& views, int keep) {
  MK_CHECK(!views.empty(), "no views to merge");
  MergedSpace space{.views = views};
  for (const ir::View& view : views)
    MK_CHECK(view.sizes == views[0].sizes, "views of sizes {} and {}", ir::to_string(view.sizes),
             ir::to_string(views[0].sizes));
  for (ir::View& view : space.views)
    for (int d = 0; d < view.rank(); ++d)
      if (view.sizes[d] == 1) view.strides[d] = 0;
  auto rank = [&] { return space.views[0].rank(); };
  for (int d = rank() - 1 - keep; d >= 0; --d)
    if (space.views[0].sizes[d] == 1) erase_dimension(space.views, d);
  for (int d = rank() - 2 - keep; d >= 0; --d) {
    if (!joins(space.views, d, d + 1)) continue;
    for (ir::View& view : space.views) {
      view.sizes[d] *= view.sizes[d + 1];
      view.strides[d] = view.strides[d + 1];
    }
    erase_dimension(space.views, d + 1);
  }
  if (rank() > program::kMaxTileRank) return std::nullopt;
  for (ir::View& view : space.views) {
    std::size_t missing = static_cast<std::size_t>(program::kMaxTileRank) - view.sizes.size();
    view.sizes.insert(view.sizes.begin(), missing, 1);
    view.strides.insert(view.strides.begin(), missing, 0);
  }
  space.sizes = space.views[0].sizes;
  return space;
}

ir::View output_view(const ir::Graph& graph, const ir::Node& node, int k) {
  const ir::Value& value = graph.value(node.outputs[k]);
  return value.mutation ? value.mutation->view : ir::View::whole(value.tensor);
}

const ir::Tensor& output_base(const ir::Graph& graph, const ir::Node& node, int k) {
  return graph.value(graph.root(node.outputs[k])).tensor;
}

program::OperandRecord operand_record(const ir::View& view, ir::DType dtype, bool output) {
  MK_CHECK(view.rank() == program::kMaxTileRank, "operand of rank {}", view.rank());
  program::OperandRecord record{};
  record.map = program::kNoMap;
  record.type = static_cast<std::uint8_t>(dtype);
  record.flags = output ? program::kOperandOutput : 0;
  record.offset = view.offset;
  for (int d = 0; d < program::kMaxTileRank; ++d) {
    record.strides[d] = view.strides[d];
    record.sizes[d] = static_cast<std::int32_t>(view.sizes[d]);
  }
  if (view.strides[2] == 0) record.flags |= program::kOperandVector;
  if (view.strides[0] == 0) record.flags |= program::kOperandBroadcast0;
  if (view.strides[1] == 0) record.flags |= program::kOperandBroadcast1;
  return record;
}

std::optional<std::string> stride_problem(const ir::View& view, ir::DType dtype) {
  const std::int64_t bytes = view.strides[3] * ir::size_of(dtype);
  if (view.sizes[3] <= 1 || bytes <= INT32_MAX) return std::nullopt;
  return fmt::format("an operand's columns lie {} bytes apart, the limit is {}; pass a contiguous copy", bytes,
                     INT32_MAX);
}

program::TensorMapDescription tensor_map(const ir::View& view, ir::DType dtype, int operand, std::uint32_t columns,
                                         std::uint32_t rows, program::Swizzle swizzle) {
  const int bytes = ir::size_of(dtype);
  program::TensorMapDescription map{.storage = static_cast<std::uint32_t>(operand),
                                    .type = dtype,
                                    .rank = 4,
                                    .offset = view.offset,
                                    .box = {columns, rows, 1, 1},
                                    .swizzle = swizzle};
  for (int d = 0; d < 4; ++d) {
    const bool single = view.sizes[3 - d] == 1 || view.strides[3 - d] == 0;
    map.sizes[d] = single ? 1 : static_cast<std::uint64_t>(view.sizes[3 - d]);
    // A dimension of one element has no stride of its own; any legal one serves.
    map.strides[d] = d == 0 ? bytes : single ? 16 : view.strides[3 - d] * bytes;
  }
  return map;
}

bool bulk_suited(const ir::View& view, ir::DType dtype, bool broadcast_batch) {
  int bytes = ir::size_of(dtype);
  if (view.offset * bytes % 16 != 0) return false;
  if (view.strides[3] != 1 && view.sizes[3] != 1) return false;
  for (int d = 0; d < 3; ++d)
    if (view.sizes[d] != 1 &&
        (view.strides[d] * bytes % 16 != 0 || (view.strides[d] == 0 && !(broadcast_batch && d < 2))))
      return false;
  return true;
}

bool bulk_storable(const ir::View& view, ir::DType dtype) {
  return bulk_suited(view, dtype) && view.sizes[3] * ir::size_of(dtype) % 16 == 0;
}

}  // namespace megakittens::ops
