#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "ir/view.hpp"

namespace megakittens::ir {
namespace {

int pick(int low, int high) {
  return *rc::gen::inRange(low, high);
}

/// Every address of one box of the view, in row-major order.
std::vector<std::int64_t> addresses(const View& view, const Box& part) {
  std::vector<std::int64_t> result{view.offset};
  for (int d = 0; d < view.rank(); ++d) {
    std::vector<std::int64_t> next;
    for (std::int64_t at : result)
      for (std::int64_t i = part.lo[d]; i < part.hi[d]; ++i) next.push_back(at + i * view.strides[d]);
    result = std::move(next);
  }
  return result;
}

Box whole_box(const View& view) {
  return {Extents(view.sizes.size(), 0), view.sizes};
}

std::vector<std::int64_t> addresses(const View& view) {
  return addresses(view, whole_box(view));
}

/// A tensor without overlap: dense, padded, or permuted.
Tensor random_tensor() {
  int rank = pick(1, 5);
  Tensor tensor{.dtype = DType::f32, .shape = {}, .strides = Extents(static_cast<std::size_t>(rank)), .device = {}};
  std::vector<int> order;
  for (int d = 0; d < rank; ++d) {
    tensor.shape.push_back(pick(1, 6));
    order.push_back(d);
  }
  bool padded = pick(0, 3) == 0;
  if (pick(0, 3) == 0) std::swap(order.front(), order.back());
  std::int64_t step = 1;
  for (int d = rank - 1; d >= 0; --d) {
    tensor.strides[order[d]] = step;
    step *= tensor.shape[order[d]] + (padded ? pick(0, 3) : 0);
  }
  return tensor;
}

View random_reshape(const View& view) {
  Extents sizes;
  std::int64_t left = view.elements();
  while (left > 1 && sizes.size() < 4) {
    std::int64_t factor = pick(1, static_cast<int>(std::min<std::int64_t>(left, 7)) + 1);
    if (left % factor != 0) factor = left;
    sizes.push_back(factor);
    left /= factor;
  }
  if (left != 1 || sizes.empty()) sizes.push_back(left);
  return view.reshape(sizes).value_or(view);
}

/// One affine step; `exact` becomes false where boxes may be a hull.
View random_step(const View& view, bool& exact) {
  if (view.rank() == 0) return view.unsqueeze(0);
  int dim = pick(0, view.rank());
  auto size = static_cast<int>(view.sizes[dim]);
  switch (pick(0, 6)) {
    case 0:
      return size > 0 ? view.select(dim, pick(0, size)) : view;
    case 1: {
      int start = pick(0, size + 1);
      int step = pick(1, 4);
      if (step > 1) exact = false;
      return view.slice(dim, start, pick(start, size + 2), step);
    }
    case 2:
      return view.transpose(dim, pick(0, view.rank()));
    case 3: {
      if (size != 1) return view.rank() < 6 ? view.unsqueeze(dim) : view;
      Extents sizes = view.sizes;
      sizes[dim] = pick(1, 4);
      return view.expand(sizes);
    }
    default:
      exact = false;
      return random_reshape(view);
  }
}

View random_view(const Tensor& tensor, bool& exact) {
  View view = View::whole(tensor);
  for (int steps = pick(0, 6); steps > 0; --steps) view = random_step(view, exact);
  return view;
}

}  // namespace

RC_GTEST_PROP(ViewProperty, boxes_hold_every_touched_element_and_only_those_where_promised, ()) {
  Tensor base = random_tensor();
  bool exact = true;
  View view = random_view(base, exact);
  Box part = whole_box(view);
  for (int d = 0; d < view.rank(); ++d) {
    part.lo[d] = pick(0, static_cast<int>(view.sizes[d]) + 1);
    part.hi[d] = pick(static_cast<int>(part.lo[d]), static_cast<int>(view.sizes[d]) + 1);
  }
  std::vector<std::int64_t> list = addresses(view, part);
  std::set<std::int64_t> touched(list.begin(), list.end());
  std::set<std::int64_t> covered;
  for (const Box& box : boxes_in_base(view, part, base)) {
    for (int d = 0; d < base.rank(); ++d)
      RC_ASSERT(box.lo[d] >= 0 && box.lo[d] < box.hi[d] && box.hi[d] <= base.shape[d]);
    for (std::int64_t at : addresses(View::whole(base), box)) covered.insert(at);
  }
  RC_ASSERT(std::includes(covered.begin(), covered.end(), touched.begin(), touched.end()));
  if (exact) RC_ASSERT(covered == touched);
}

RC_GTEST_PROP(ViewProperty, a_reshape_keeps_the_row_major_order_of_elements, ()) {
  bool exact = true;
  View view = random_view(random_tensor(), exact);
  std::vector<std::int64_t> before = addresses(view);
  std::int64_t count = view.elements();
  std::int64_t first = 1;
  for (std::int64_t factor = pick(1, 9); factor > 1 && first == 1; --factor)
    if (count % factor == 0) first = factor;
  Extents sizes = count == 0 ? Extents{3, 0} : Extents{first, count / first};
  if (std::optional<View> reshaped = view.reshape(sizes)) RC_ASSERT(addresses(*reshaped) == before);
  if (view.is_contiguous()) RC_ASSERT(view.reshape(sizes).has_value());
}

RC_GTEST_PROP(ViewProperty, slices_and_permutations_compose_as_index_maps, ()) {
  Tensor base = random_tensor();
  bool exact = true;
  View view = random_view(base, exact);
  RC_PRE(view.rank() >= 1);
  int dim = pick(0, view.rank());
  auto size = static_cast<int>(view.sizes[dim]);
  int start = pick(-size, size + 1);
  int end = pick(-size, size + 3);
  int step = pick(1, 4);
  View sliced = view.slice(dim, start, end, step);
  int first = std::clamp(start < 0 ? start + size : start, 0, size);
  int last = std::clamp(end < 0 ? end + size : end, 0, size);
  std::vector<std::int64_t> expected;
  for (int i = first; i < last; i += step) {
    std::vector<std::int64_t> part = addresses(view.select(dim, i));
    expected.insert(expected.end(), part.begin(), part.end());
  }
  // With the sliced dimension outermost, both list whole slices in order.
  std::vector<std::int64_t> order{dim};
  for (int d = 0; d < view.rank(); ++d)
    if (d != dim) order.push_back(d);
  RC_ASSERT(addresses(sliced.permute(order)) == expected);
}

RC_GTEST_PROP(ViewProperty, a_range_goes_from_the_first_address_to_one_past_the_last, ()) {
  Tensor base = random_tensor();
  bool exact = true;
  View view = random_view(base, exact);
  std::vector<std::int64_t> all = addresses(view);
  auto [first, end] = view.range();
  if (all.empty()) {
    RC_ASSERT(first == end);
  } else {
    RC_ASSERT(*std::min_element(all.begin(), all.end()) == first);
    RC_ASSERT(*std::max_element(all.begin(), all.end()) == end - 1);
    RC_ASSERT(end <= base.span());
  }
}

}  // namespace megakittens::ir
