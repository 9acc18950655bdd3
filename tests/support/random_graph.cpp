#include "support/random_graph.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace megakittens::test {
namespace {

using ir::Handle;
using ir::PointwiseOp;

class Grower {
 public:
  Grower(const Pick& pick, const RandomGraphShape& shape) : pick_(pick), shape_(shape), builder_("random") {}

  ir::Graph grow() {
    const int inputs = pick_(1, 4);
    for (int i = 0; i < inputs; ++i) add_input(pick_(1, 4));
    for (int n = 0; n < shape_.nodes; ++n) {
      builder_.at(fmt::format("n{}", n), "");
      add_node();
    }
    const int outputs = pick_(1, 4);
    for (int o = 0; o < outputs; ++o) builder_.output(view_of(any_value()));
    return builder_.build();
  }

 private:
  int extent() { return pick_(0, 3) == 0 ? 64 * pick_(1, std::max(2, shape_.extent / 64)) : pick_(1, shape_.extent); }

  ir::ValueId add_input(int rank) {
    ir::Extents sizes;
    std::int64_t budget = std::int64_t{shape_.extent} * shape_.extent;
    for (int d = 0; d < rank; ++d) {
      sizes.push_back(std::max<std::int64_t>(1, std::min<std::int64_t>(d + 2 < rank ? pick_(1, 4) : extent(), budget)));
      budget /= sizes.back();
    }
    return keep(builder_.input(fmt::format("x{}", inputs_++), shape_.dtype, sizes));
  }

  ir::ValueId keep(const Handle& handle) {
    values_.push_back(handle.value);
    return handle.value;
  }
  Handle any_value() {
    // Recent values are more likely: chains, not stars.
    const int count = static_cast<int>(values_.size());
    const int at = pick_(0, 2) == 0 ? pick_(0, count) : count - 1 - pick_(0, std::min(count, 3));
    return builder_.whole(values_[at]);
  }

  /// One to three affine steps.
  Handle view_of(Handle handle) {
    for (int step = pick_(0, 4); step > 0; --step) {
      ir::View& view = handle.view;
      if (view.rank() == 0) break;
      const int dim = pick_(0, view.rank());
      const auto size = static_cast<int>(view.sizes[dim]);
      switch (pick_(0, 6)) {
        case 0:
        case 1: {
          const int start = pick_(0, size);
          view = view.slice(dim, start, start + 1 + pick_(0, size - start), pick_(0, 6) == 0 ? pick_(1, 4) : 1);
          break;
        }
        case 2:
          view = view.transpose(dim, pick_(0, view.rank()));
          break;
        case 3:
          if (view.rank() > 2) view = view.select(dim, pick_(0, size));
          break;
        case 4:
          if (view.rank() < 4) view = view.unsqueeze(dim);
          break;
        default:
          view = flattened(view);
          break;
      }
    }
    return handle;
  }

  /// Splits or joins dimensions where that is affine.
  ir::View flattened(const ir::View& view) {
    if (pick_(0, 2) == 0) return view.reshape({-1}).value_or(view);
    ir::Extents sizes = view.sizes;
    const int dim = pick_(0, view.rank());
    const std::int64_t factor = pick_(2, 5);
    if (view.rank() >= 4 || sizes[dim] % factor != 0) return view;
    sizes[dim] /= factor;
    sizes.insert(sizes.begin() + dim + 1, factor);
    return view.reshape(sizes).value_or(view);
  }

  void add_node() {
    const int kind = pick_(0, 10);
    if (kind == 0 && shape_.products) return add_product();
    if (kind <= 2 && shape_.in_place) return add_update();
    if (kind <= 5) return add_binary();
    if (shape_.exact_operations) return add_unary();
    keep(builder_.relu(view_of(any_value())));
  }

  void add_unary() {
    constexpr PointwiseOp kUnary[] = {PointwiseOp::relu, PointwiseOp::neg, PointwiseOp::abs};
    const Handle x = view_of(any_value());
    switch (pick_(0, 5)) {
      case 0:
        keep(builder_.pointwise(PointwiseOp::add, x, pick_(-2, 3)));
        break;
      case 1:
        keep(builder_.cast(builder_.cast(x, ir::DType::boolean), shape_.dtype));
        break;
      case 2:
        keep(builder_.cast(builder_.cast(x, ir::DType::f16), shape_.dtype));
        break;
      default:
        keep(builder_.pointwise(kUnary[pick_(0, 3)], {x}));
    }
  }
  /// Brings what a product or sum made back to small integers.
  Handle small(const Handle& x) {
    if (!shape_.exact_operations) return x;
    const Handle low = builder_.pointwise(PointwiseOp::maximum, x, -3.0);
    return builder_.pointwise(PointwiseOp::minimum, low, 4.0);
  }

  /// A second operand of the first one's shape: another value where one fits, else a broadcast of a part.
  Handle partner(const Handle& first) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      Handle other = view_of(any_value());
      if (fit(other.view, first.view.sizes)) return other;
    }
    return first;
  }
  /// Slices `view` down to `sizes`, or to 1 where it may be broadcast.
  bool fit(ir::View& view, const ir::Extents& sizes) {
    while (view.rank() < static_cast<int>(sizes.size())) view = view.unsqueeze(0);
    if (view.rank() > static_cast<int>(sizes.size())) return false;
    for (int d = 0; d < view.rank(); ++d) {
      if (view.sizes[d] >= sizes[d]) {
        const int start = pick_(0, static_cast<int>(view.sizes[d] - sizes[d]) + 1);
        view = view.slice(d, start, start + sizes[d]);
      } else {
        view = view.slice(d, 0, 1);
      }
    }
    view = view.broadcast_to(sizes);
    return true;
  }

  void add_binary() {
    const Handle first = view_of(any_value());
    const Handle second = partner(first);
    if (!shape_.exact_operations) {
      keep(builder_.add(first, second));
      return;
    }
    constexpr PointwiseOp kBinary[] = {PointwiseOp::add, PointwiseOp::sub, PointwiseOp::mul, PointwiseOp::maximum,
                                       PointwiseOp::minimum};
    constexpr PointwiseOp kComparisons[] = {PointwiseOp::eq, PointwiseOp::ne, PointwiseOp::lt, PointwiseOp::ge};
    const Handle x = pick_(0, 2) == 0 ? first : second;
    const Handle y = pick_(0, 2) == 0 ? first : second;
    if (pick_(0, 4) == 0) {
      const Handle condition = builder_.pointwise(kComparisons[pick_(0, 4)], {x, y});
      keep(builder_.pointwise(PointwiseOp::where, {condition, y, first}));
    } else {
      keep(small(builder_.pointwise(kBinary[pick_(0, 5)], {x, y})));
    }
  }

  void add_product() {
    Handle a = view_of(any_value());
    while (a.view.rank() < 2) a.view = a.view.unsqueeze(0);
    while (a.view.rank() > 2) a.view = a.view.select(0, 0);
    Handle b = view_of(any_value());
    while (b.view.rank() < 2) b.view = b.view.unsqueeze(0);
    while (b.view.rank() > 2) b.view = b.view.select(0, 0);
    const std::int64_t depth = std::min(a.view.sizes[1], b.view.sizes[0]);
    a.view = a.view.slice(1, 0, depth);
    b.view = b.view.slice(0, 0, depth);
    // Flattened values are long; an outer product of two would be of billions.
    a.view = a.view.slice(0, 0, std::min<std::int64_t>(a.view.sizes[0], shape_.extent));
    b.view = b.view.slice(1, 0, std::min<std::int64_t>(b.view.sizes[1], shape_.extent));
    keep(small(builder_.matmul(a, b)));
  }

  void add_update() {
    const int at = pick_(0, static_cast<int>(values_.size()));
    const Handle whole = builder_.whole(values_[at]);
    Handle target = whole;
    for (int d = 0; d < target.view.rank(); ++d) {
      if (pick_(0, 2) == 0) continue;
      const auto size = static_cast<int>(target.view.sizes[d]);
      const int start = pick_(0, size);
      target.view = target.view.slice(d, start, start + 1 + pick_(0, size - start), pick_(0, 8) == 0 ? 2 : 1);
    }
    Handle source = view_of(any_value());
    if (source.value == whole.value) source = target;  // element by element
    if (!fit(source.view, target.view.sizes)) return;
    // No element is written twice, so a broadcast target is left alone.
    values_[at] = builder_.assign(target, source).value;
  }

  const Pick& pick_;
  const RandomGraphShape& shape_;
  ir::Builder builder_;
  std::vector<ir::ValueId> values_;
  int inputs_ = 0;
};

}  // namespace

ir::Graph random_graph(const Pick& pick, const RandomGraphShape& shape) {
  return Grower(pick, shape).grow();
}

}  // namespace megakittens::test
