#include <fmt/format.h>

#include <algorithm>

#include "passes/rewrite.hpp"

namespace megakittens::passes {
namespace {

/// Pitches and bases that tensor maps can describe.
constexpr std::int64_t kAlignment = 16;

/// A product's operand with its contiguous dimension last, or K where neither of two is.
struct Matrix {
  ir::View view;
  bool turned = false;  ///< its last two dimensions are the operand's, exchanged

  ir::View back(const ir::View& shown) const { return turned ? shown.transpose(-1, -2) : shown; }
};

Matrix matrix_of(const ir::View& view, std::size_t k) {
  const std::size_t last = view.sizes.size() - 1;
  const bool straight = view.strides[last] == 1, turned = view.strides[last - 1] == 1;
  const bool turn = straight || turned ? turned && !straight : k == 1;
  return {turn ? view.transpose(-1, -2) : view, turn};
}

/// Rows that bulk copies bring as they lie.
bool is_aligned(const ir::View& rows, std::int64_t bytes) {
  const std::size_t last = rows.sizes.size() - 1;
  if (rows.offset * bytes % kAlignment != 0 || (rows.sizes[last] != 1 && rows.strides[last] != 1)) return false;
  for (std::size_t d = 0; d < last; ++d)
    if (rows.sizes[d] != 1 && (rows.strides[d] * bytes % kAlignment != 0 || (d + 1 == last && rows.strides[d] == 0)))
      return false;
  return true;
}

/// Row-major, each row and what goes before it a multiple of 16 bytes.
ir::Extents padded_strides(const ir::Extents& shape, std::int64_t bytes) {
  const std::int64_t unit = kAlignment / bytes;
  ir::Extents strides(shape.size(), 1);
  std::int64_t step = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = step;
    step *= std::max<std::int64_t>(shape[d], 1);
    if (d + 1 == shape.size()) step = (step + unit - 1) / unit * unit;
  }
  return strides;
}

/// Works on a copy of the graph in which nodes keep their numbers; copies that are put between stand aside.
class Padder {
 public:
  Padder(const ir::Graph& graph, const Options& options)
      : graph_(graph), options_(options), uses_(graph), before_(graph.nodes.size()) {}

  ir::Graph run() {
    std::vector<std::size_t> products;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      if (is_unsuited(graph_.nodes[n])) products.push_back(n);
    // Producers first: a copy reads what is then settled.
    for (const bool copies : {false, true})
      for (const std::size_t n : products)
        for (std::size_t k = 0; k < 2; ++k) pad(n, k, copies);
    return numbered_anew();
  }

 private:
  /// A product of 16-bit operands that only the general type takes.
  bool is_unsuited(const ir::Node& node) const {
    if (node.family != ir::Family::contraction || bytes_of(node.operands[0]) != 2) return false;
    return type_of(graph_, node, options_) == "gemm_general" && node.operands[0].view.elements() > 0 &&
           node.operands[1].view.elements() > 0;
  }
  std::int64_t bytes_of(const ir::Operand& operand) const {
    return ir::size_of(graph_.value(operand.value).tensor.dtype);
  }

  void pad(std::size_t n, std::size_t k, bool copies) {
    const ir::Operand operand = graph_.nodes[n].operands[k];
    const Matrix matrix = matrix_of(operand.view, k);
    if (is_aligned(matrix.view, bytes_of(operand))) return;
    if (copies)
      put_copy_before(n, k, matrix);
    else
      pad_producer(operand.value);
  }

  /// Lets the node that makes the value write padded rows. Only where products alone read it: what goes through rows
  /// element by element would be slower for it.
  void pad_producer(ir::ValueId id) {
    const ir::Value& value = graph_.value(id);
    if (value.producer < 0 || uses_.returned[id] || !uses_.is_written_once(graph_, id)) return;
    const ir::Node& producer = graph_.nodes[static_cast<std::size_t>(value.producer)];
    if (producer.family != ir::Family::contraction && producer.family != ir::Family::copy) return;
    if (!value.tensor.is_contiguous()) return;
    ir::Graph padded = graph_;
    ir::Tensor& tensor = padded.values[static_cast<std::size_t>(id)].tensor;
    tensor.strides = padded_strides(tensor.shape, ir::size_of(tensor.dtype));
    const ir::View rows = ir::View::whole(tensor);
    for (const int reader : uses_.readers[id]) {
      ir::Node& node = padded.nodes[static_cast<std::size_t>(reader)];
      if (node.family != ir::Family::contraction) return;
      for (std::size_t k = 0; k < node.operands.size(); ++k) {
        if (node.operands[k].value != id) continue;
        std::optional<ir::View> view = composed(node.operands[k].view, rows);
        if (!view) return;
        if (k < 2 && !is_aligned(matrix_of(*view, k).view, ir::size_of(tensor.dtype))) return;
        node.operands[k].view = std::move(*view);
      }
    }
    if (type_of(padded, producer, options_).empty()) return;
    graph_ = std::move(padded);
  }

  void put_copy_before(std::size_t n, std::size_t k, const Matrix& matrix) {
    ir::Node& node = graph_.nodes[n];
    const ir::Operand operand = node.operands[k];
    const ir::Value& source = graph_.value(operand.value);
    ir::View once = matrix.view;  // of broadcast matrices
    for (std::size_t d = 0; d + 2 < once.sizes.size(); ++d)
      if (once.strides[d] == 0) once.sizes[d] = 1;
    ir::Value made{.name = fmt::format("{}_padded_{}", source.name, graph_.values.size()), .tensor = source.tensor};
    made.tensor.shape = once.sizes;
    made.tensor.strides = padded_strides(once.sizes, bytes_of(operand));
    ir::View shown = ir::View::whole(made.tensor);
    for (std::size_t d = 0; d < shown.sizes.size(); ++d)
      if (shown.sizes[d] != matrix.view.sizes[d]) {
        shown.sizes[d] = matrix.view.sizes[d];
        shown.strides[d] = 0;
      }
    const auto id = static_cast<ir::ValueId>(graph_.values.size());
    before_[n].push_back({.family = ir::Family::copy,
                          .name = fmt::format("pad_{}_{}", node.name, k == 0 ? "a" : "b"),
                          .operands = {{operand.value, once}},
                          .outputs = {id},
                          .source = node.source});
    node.operands[k] = {id, matrix.back(shown)};
    graph_.values.push_back(std::move(made));
  }

  ir::Graph numbered_anew() {
    std::vector<ir::Node> nodes;
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (ir::Node& copy : before_[n]) nodes.push_back(std::move(copy));
      nodes.push_back(std::move(graph_.nodes[n]));
    }
    graph_.nodes = std::move(nodes);
    for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
      for (const ir::ValueId id : graph_.nodes[n].outputs)
        graph_.values[static_cast<std::size_t>(id)].producer = static_cast<ir::NodeId>(n);
    return rebuild(graph_, nodes_of(graph_));
  }

  ir::Graph graph_;
  const Options& options_;
  const Uses uses_;                            ///< of the graph as it was: padding changes neither readers nor writers
  std::vector<std::vector<ir::Node>> before_;  ///< what is to stand before each node
};

}  // namespace

ir::Graph pad_operands(const ir::Graph& graph, const Options& options) {
  return Padder(graph, options).run();
}

}  // namespace megakittens::passes
