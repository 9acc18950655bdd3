#include "ir/view.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "support/error.hpp"

namespace megakittens::ir {
namespace {

int wrap_dim(int dim, int rank, const char* what) {
  int wrapped = dim < 0 ? dim + rank : dim;
  if (wrapped < 0 || wrapped >= rank)
    throw UserError(fmt::format("{}: dimension {} is out of range for rank {}", what, dim, rank));
  return wrapped;
}

}  // namespace

View View::whole(const Tensor& tensor) {
  return {.sizes = tensor.shape, .strides = tensor.strides};
}

View View::select(int dim, std::int64_t index) const {
  dim = wrap_dim(dim, rank(), "select");
  std::int64_t size = sizes[dim];
  std::int64_t wrapped = index < 0 ? index + size : index;
  if (wrapped < 0 || wrapped >= size)
    throw UserError(fmt::format("select: index {} is out of range for size {} of dimension {}", index, size, dim));
  View view = *this;
  view.offset += wrapped * strides[dim];
  view.sizes.erase(view.sizes.begin() + dim);
  view.strides.erase(view.strides.begin() + dim);
  return view;
}

View View::slice(int dim, std::int64_t start, std::int64_t end, std::int64_t step) const {
  dim = wrap_dim(dim, rank(), "slice");
  if (step <= 0) throw UserError(fmt::format("slice: step {} must be positive", step));
  std::int64_t size = sizes[dim];
  auto clamp = [size](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
  std::int64_t first = clamp(start);
  std::int64_t last = std::max(clamp(end), first);
  View view = *this;
  view.offset += first * strides[dim];
  view.sizes[dim] = (last - first) / step + ((last - first) % step != 0);
  view.strides[dim] = strides[dim] * step;
  return view;
}

View View::transpose(int first, int second) const {
  first = wrap_dim(first, rank(), "transpose");
  second = wrap_dim(second, rank(), "transpose");
  View view = *this;
  std::swap(view.sizes[first], view.sizes[second]);
  std::swap(view.strides[first], view.strides[second]);
  return view;
}

View View::permute(const std::vector<std::int64_t>& order) const {
  if (order.size() != sizes.size())
    throw UserError(fmt::format("permute: {} dimensions given for rank {}", order.size(), rank()));
  View view = *this;
  std::vector<bool> seen(sizes.size(), false);
  for (std::size_t i = 0; i < order.size(); ++i) {
    int dim = wrap_dim(static_cast<int>(order[i]), rank(), "permute");
    if (seen[dim]) throw UserError(fmt::format("permute: dimension {} is given twice", order[i]));
    seen[dim] = true;
    view.sizes[i] = sizes[dim];
    view.strides[i] = strides[dim];
  }
  return view;
}

View View::expand(const Extents& new_sizes) const {
  if (new_sizes.size() < sizes.size())
    throw UserError(fmt::format("expand: {} to {} would drop dimensions", to_string(sizes), to_string(new_sizes)));
  std::size_t added = new_sizes.size() - sizes.size();
  View view{.offset = offset, .sizes = new_sizes, .strides = Extents(new_sizes.size(), 0)};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::int64_t& size = view.sizes[added + i];
    if (size == -1) size = sizes[i];
    if (size == sizes[i])
      view.strides[added + i] = strides[i];
    else if (sizes[i] != 1)
      throw UserError(fmt::format("expand: {} cannot become {}", to_string(sizes), to_string(new_sizes)));
  }
  for (std::int64_t size : view.sizes)
    if (size < 0) throw UserError(fmt::format("expand: {} has a negative size", to_string(new_sizes)));
  return view;
}

View View::unsqueeze(int dim) const {
  dim = wrap_dim(dim, rank() + 1, "unsqueeze");
  View view = *this;
  view.sizes.insert(view.sizes.begin() + dim, 1);
  view.strides.insert(view.strides.begin() + dim, 1);
  return view;
}

View View::squeeze(int dim) const {
  dim = wrap_dim(dim, rank(), "squeeze");
  View view = *this;
  if (sizes[dim] != 1) return view;
  view.sizes.erase(view.sizes.begin() + dim);
  view.strides.erase(view.strides.begin() + dim);
  return view;
}

View View::broadcast_to(const Extents& shape) const {
  try {
    return expand(shape);
  } catch (const UserError&) {
    throw UserError(fmt::format("a tensor of shape {} does not broadcast to {}", to_string(sizes), to_string(shape)));
  }
}

bool View::is_contiguous() const {
  std::int64_t step = 1;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != step) return false;
    step *= std::max<std::int64_t>(sizes[i], 1);
  }
  return true;
}

std::pair<std::int64_t, std::int64_t> View::range() const {
  std::int64_t last = offset;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return {offset, offset};
    last += (sizes[i] - 1) * strides[i];
  }
  return {offset, last + 1};
}

std::string to_string(const View& view) {
  return fmt::format("{}+{}:{}", to_string(view.sizes), view.offset, to_string(view.strides));
}

Extents broadcast_shapes(const Extents& a, const Extents& b) {
  Extents shape(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      throw UserError(fmt::format("shapes {} and {} do not broadcast", to_string(a), to_string(b)));
    shape[shape.size() - 1 - i] = x == 1 ? y : x;
  }
  return shape;
}

bool overlaps(const Box& a, const Box& b) {
  MK_CHECK(a.lo.size() == b.lo.size(), "boxes of rank {} and {}", a.lo.size(), b.lo.size());
  for (std::size_t i = 0; i < a.lo.size(); ++i)
    if (a.lo[i] >= b.hi[i] || b.lo[i] >= a.hi[i]) return false;
  return true;
}

std::string to_string(const Box& box) {
  std::vector<std::string> ranges;
  for (std::size_t i = 0; i < box.lo.size(); ++i) ranges.push_back(fmt::format("{}:{}", box.lo[i], box.hi[i]));
  return fmt::format("[{}]", fmt::join(ranges, ", "));
}

}  // namespace megakittens::ir
