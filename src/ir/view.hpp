// An affine map from an index space into the storage of a tensor: element(i) = offset + sum(i[d] * strides[d]).
// Slices, selects, transposes, permutations, expansions and affine reshapes are all of this form and compose.
#pragma once

#include <optional>

#include "ir/tensor.hpp"

namespace megakittens::ir {

struct View {
  std::int64_t offset = 0;
  Extents sizes;
  Extents strides;

  /// The view that shows a whole tensor.
  static View whole(const Tensor& tensor);
  int rank() const { return static_cast<int>(sizes.size()); }
  std::int64_t elements() const { return element_count(sizes); }
  bool operator==(const View&) const = default;

  // Each takes dimensions as PyTorch does (negative counts from the end) and throws UserError with the values
  // where an argument is out of range.
  View select(int dim, std::int64_t index) const;
  /// start and end are clamped as PyTorch does; step > 0.
  View slice(int dim, std::int64_t start, std::int64_t end, std::int64_t step = 1) const;
  View transpose(int first, int second) const;
  View permute(const std::vector<std::int64_t>& order) const;
  /// -1 keeps a size. New leading dimensions are allowed.
  View expand(const Extents& new_sizes) const;
  View unsqueeze(int dim) const;
  /// Drops the dimension where it has size 1.
  View squeeze(int dim) const;
  /// One size may be -1. Empty where the new shape is not affine over this view.
  std::optional<View> reshape(const Extents& new_sizes) const;
  /// Broadcasts to `shape` by numpy's rules. Throws UserError where that is not possible.
  View broadcast_to(const Extents& shape) const;

  /// Reads elements in row-major order as one run: strides equal those of a dense tensor (size-1 dims ignored).
  bool is_contiguous() const;
  /// First and one-past-last element touched. {offset, offset} where a size is 0.
  std::pair<std::int64_t, std::int64_t> range() const;
};

std::string to_string(const View& view);

/// Shape that numpy broadcasting gives. Throws UserError naming both shapes.
Extents broadcast_shapes(const Extents& a, const Extents& b);

/// Half-open ranges, one a dimension.
struct Box {
  Extents lo;
  Extents hi;
  bool operator==(const Box&) const = default;
};
bool overlaps(const Box& a, const Box& b);
std::string to_string(const Box& box);

/// The boxes, in coordinates of `base`, that hold every element which `part` (a box in the view's own coordinates)
/// touches. Exact where the view is made of slices of step 1, selects, permutations, expansions and reshapes that
/// split or merge whole dimensions; otherwise the smallest hull, which is safe for ordering.
std::vector<Box> boxes_in_base(const View& view, const Box& part, const Tensor& base);

}  // namespace megakittens::ir
