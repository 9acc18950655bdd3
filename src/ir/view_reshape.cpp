#include <algorithm>

#include "ir/view.hpp"
#include "support/error.hpp"

namespace megakittens::ir {
namespace {

Extents infer_sizes(const Extents& wanted, std::int64_t count, const Extents& from) {
  Extents sizes = wanted;
  std::int64_t known = 1;
  int unknown = -1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] >= 0) {
      known *= sizes[i];
    } else if (sizes[i] == -1 && unknown < 0) {
      unknown = static_cast<int>(i);
    } else {
      throw UserError(fmt::format("reshape: {} has more than one size to infer", to_string(wanted)));
    }
  }
  if (unknown >= 0 && known != 0) sizes[unknown] = count / known;
  if (element_count(sizes) != count)
    throw UserError(
        fmt::format("reshape: {} does not hold the {} elements of {}", to_string(wanted), count, to_string(from)));
  return sizes;
}

}  // namespace

std::optional<View> View::reshape(const Extents& new_sizes) const {
  View view{.offset = offset, .sizes = infer_sizes(new_sizes, elements(), sizes)};
  if (elements() == 0) {
    view.strides = contiguous_strides(view.sizes);
    return view;
  }
  // Walk from the innermost dimension over runs of old dimensions that are dense with each other; each run must be
  // cut exactly by a group of new dimensions.
  view.strides.assign(view.sizes.size(), 1);
  int next = static_cast<int>(view.sizes.size()) - 1;
  for (int old = rank() - 1; old >= 0;) {
    if (sizes[old] == 1) {
      --old;
      continue;
    }
    std::int64_t step = strides[old];
    std::int64_t run = sizes[old];
    int first = old - 1;
    while (first >= 0 && (sizes[first] == 1 || strides[first] == step * run)) run *= sizes[first--];
    std::int64_t covered = 1;
    while (next >= 0 && covered < run) {
      view.strides[next] = step * covered;
      covered *= view.sizes[next--];
    }
    if (covered != run) return std::nullopt;
    old = first;
  }
  return view;
}

namespace {

/// A view dimension placed in the base: `extent` steps of `stride` elements.
struct Term {
  std::int64_t stride;
  std::int64_t extent;
};

struct BaseDim {
  int dim;
  std::int64_t stride;
  std::int64_t size;
};

/// Splits one run [begin, begin + length) of rows of the dims `dims[at..]` (outermost first) into boxes.
void split_run(const std::vector<BaseDim>& dims, std::size_t at, std::int64_t begin, std::int64_t length, Box& box,
               std::vector<Box>& out) {
  if (at == dims.size()) {
    out.push_back(box);
    return;
  }
  std::int64_t inner = 1;
  for (std::size_t i = at + 1; i < dims.size(); ++i) inner *= dims[i].size;
  std::int64_t end = begin + length;
  auto emit = [&](std::int64_t lo, std::int64_t hi, std::int64_t from, std::int64_t count) {
    box.lo[dims[at].dim] = lo;
    box.hi[dims[at].dim] = hi;
    split_run(dims, at + 1, from, count, box, out);
  };
  std::int64_t row = begin / inner;
  std::int64_t last = (end - 1) / inner;
  if (row == last) return emit(row, row + 1, begin - row * inner, length);
  if (begin % inner != 0) {
    emit(row, row + 1, begin - row * inner, (row + 1) * inner - begin);
    ++row;
  }
  std::int64_t tail = end % inner;
  std::int64_t full_end = end / inner;
  if (full_end > row) emit(row, full_end, 0, inner);
  if (tail != 0) emit(full_end, full_end + 1, 0, tail);
}

}  // namespace

std::vector<Box> boxes_in_base(const View& view, const Box& part, const Tensor& base) {
  MK_CHECK(part.lo.size() == view.sizes.size(), "box of rank {} on a view of rank {}", part.lo.size(), view.rank());
  std::int64_t start = view.offset;
  std::vector<Term> terms;
  for (int d = 0; d < view.rank(); ++d) {
    std::int64_t extent = part.hi[d] - part.lo[d];
    if (extent <= 0) return {};
    start += part.lo[d] * view.strides[d];
    if (extent > 1 && view.strides[d] != 0) terms.push_back({view.strides[d], extent});
  }
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.stride > b.stride; });

  std::vector<BaseDim> dims;
  for (int d = 0; d < base.rank(); ++d)
    if (base.shape[d] > 1 && base.strides[d] > 0) dims.push_back({d, base.strides[d], base.shape[d]});
  std::stable_sort(dims.begin(), dims.end(), [](const BaseDim& a, const BaseDim& b) { return a.stride > b.stride; });

  Box whole{.lo = Extents(base.shape.size(), 0), .hi = base.shape};
  // Group base dimensions that are dense with each other: a view dimension may run across them.
  std::vector<Box> boxes{whole};
  std::int64_t rest = start;
  std::size_t term = 0;
  for (std::size_t first = 0; first < dims.size();) {
    std::size_t last = first;
    while (last + 1 < dims.size() && dims[last].stride == dims[last + 1].stride * dims[last + 1].size) ++last;
    std::int64_t unit = dims[last].stride;
    std::int64_t at = rest / unit;
    rest -= at * unit;
    std::vector<BaseDim> group(dims.begin() + static_cast<std::ptrdiff_t>(first),
                               dims.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    // Terms of this group, outermost first; each spans whole units.
    std::vector<Term> own;
    while (term < terms.size() && terms[term].stride >= unit) own.push_back(terms[term++]);
    // One run where the terms tile each other densely, else one box a base dimension where each term stays in it.
    std::vector<Box> pieces;
    std::int64_t reach = 0;
    bool exact = true;
    for (const Term& t : own) {
      exact = exact && t.stride % unit == 0;
      reach += (t.extent - 1) * t.stride;
    }
    std::int64_t hull_units = reach / unit + 1;
    bool dense = exact;
    std::int64_t expected = 1;
    for (std::size_t i = own.size(); dense && i-- > 0;) {
      dense = own[i].stride == expected * unit;
      expected *= own[i].extent;
    }
    Box scratch = whole;
    if (dense) {
      split_run(group, 0, at, hull_units, scratch, pieces);
    } else {
      // Give every base dimension the terms whose stride lies within it; a term that crosses gives the hull of all.
      std::vector<Term> left = own;
      std::int64_t remaining = at;
      bool fits = exact;
      for (std::size_t g = 0; g < group.size() && fits; ++g) {
        std::int64_t inner = group[g].stride / unit;
        std::int64_t lo = remaining / inner;
        remaining -= lo * inner;
        std::int64_t span = 0;
        for (auto it = left.begin(); it != left.end();) {
          if (it->stride >= group[g].stride && it->stride % group[g].stride == 0) {
            span += (it->extent - 1) * (it->stride / group[g].stride);
            it = left.erase(it);
          } else {
            ++it;
          }
        }
        fits = lo + span < group[g].size;
        scratch.lo[group[g].dim] = lo;
        scratch.hi[group[g].dim] = lo + span + 1;
      }
      if (fits && left.empty())
        pieces.push_back(scratch);
      else
        split_run(group, 0, at, hull_units, scratch, pieces);
    }
    // Cross product of the boxes so far with this group's pieces.
    std::vector<Box> product;
    for (const Box& box : boxes)
      for (const Box& piece : pieces) {
        Box merged = box;
        for (const BaseDim& dim : group) {
          merged.lo[dim.dim] = piece.lo[dim.dim];
          merged.hi[dim.dim] = piece.hi[dim.dim];
        }
        product.push_back(std::move(merged));
      }
    boxes = std::move(product);
    first = last + 1;
  }
  return boxes;
}

}  // namespace megakittens::ir
