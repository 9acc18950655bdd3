#include "frontend/context.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace megakittens::frontend {

Context::Context(const fx::Module& module, std::vector<std::string> targets, std::vector<std::vector<int>> users)
    : module_(module),
      targets_(std::move(targets)),
      users_(std::move(users)),
      results_(module.nodes.size()),
      done_(module.nodes.size(), false) {
  for (int i = 0; i < static_cast<int>(module.nodes.size()); ++i) owner_.push_back(i);
  graph_.name = module.name;
}

void Context::set_results(int index, Results results) {
  results_[static_cast<std::size_t>(index)] = std::move(results);
  done_[static_cast<std::size_t>(index)] = true;
}

std::string Context::unique_name(const std::string& wanted) {
  int& count = names_[wanted];
  return count++ == 0 ? wanted : unique_name(fmt::format("{}_{}", wanted, count - 1));
}

ir::ValueId Context::add_input(const std::string& name, ir::Tensor tensor) {
  auto id = static_cast<ir::ValueId>(graph_.values.size());
  graph_.values.push_back({.name = unique_name(name), .tensor = std::move(tensor)});
  graph_.inputs.push_back(id);
  newest_.push_back(id);
  return id;
}

std::vector<TensorSymbol> Context::add_node(int index, ir::Node node, const std::vector<ir::Tensor>& tensors,
                                            const std::vector<std::optional<Destination>>& written) {
  const fx::Node& source = module_.nodes[static_cast<std::size_t>(index)];
  auto number = static_cast<ir::NodeId>(graph_.nodes.size());
  node.name = unique_name(source.name);
  node.source = source.source;
  std::vector<TensorSymbol> shown;
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    auto id = static_cast<ir::ValueId>(graph_.values.size());
    ir::Value value{.name = tensors.size() == 1 ? node.name : fmt::format("{}.{}", node.name, k),
                    .tensor = tensors[k],
                    .producer = number,
                    .output_index = static_cast<int>(k)};
    newest_.push_back(id);
    if (const std::optional<Destination>& to = written[k]) {
      value.tensor = graph_.value(to->root).tensor;
      value.mutation = ir::Mutation{newest_[static_cast<std::size_t>(to->root)], to->view};
      newest_[static_cast<std::size_t>(to->root)] = id;
      shown.push_back({to->root, to->view});
    } else {
      shown.push_back({id, ir::View::whole(tensors[k])});
    }
    graph_.values.push_back(std::move(value));
    node.outputs.push_back(id);
  }
  graph_.nodes.push_back(std::move(node));
  return shown;
}

TensorSymbol Context::add_node(int index, ir::Node node, const ir::Tensor& tensor,
                               const std::optional<Destination>& written) {
  return add_node(index, std::move(node), std::vector<ir::Tensor>{tensor},
                  std::vector<std::optional<Destination>>{written})[0];
}

ir::Operand Context::operand(const TensorSymbol& symbol) const {
  return {newest_[static_cast<std::size_t>(symbol.root)], symbol.view};
}

ir::DType Context::dtype(const Symbol& symbol) const {
  if (const auto* constant = std::get_if<ConstantSymbol>(&symbol)) return constant->dtype;
  return graph_.value(std::get<TensorSymbol>(symbol).root).tensor.dtype;
}

bool Context::is_input(ir::ValueId root) const {
  return graph_.value(root).producer == -1;
}

TensorSymbol Context::copy(int index, const TensorSymbol& source) {
  ir::Node node;
  node.family = ir::Family::copy;
  node.operands = {operand(source)};
  return add_node(index, std::move(node), ir::Tensor::dense(dtype(source), source.view.sizes));
}

void Context::write(int index, const Symbol& source, const Destination& destination) {
  ir::Node node;
  ir::DType target = graph_.value(destination.root).tensor.dtype;
  if (const auto* constant = std::get_if<ConstantSymbol>(&source)) {
    node.body = ir::PointwiseBody{
        .steps = {{ir::PointwiseOp::identity, {ir::Ref::constant(constant->value)}, ir::DType::f32}}, .results = {0}};
  } else {
    TensorSymbol from = std::get<TensorSymbol>(source);
    from.view = from.view.broadcast_to(destination.view.sizes);
    // Reading and writing one storage in different places would depend on the order of tiles.
    if (from.root == destination.root) {
      auto [first, end] = from.view.range();
      auto [low, high] = destination.view.range();
      if (first < high && low < end) from = copy(index, from);
    }
    if (dtype(from) == target)
      node.family = ir::Family::copy;
    else
      node.body = ir::plain_body(ir::PointwiseOp::identity);
    node.operands = {operand(from)};
  }
  add_node(index, std::move(node), graph_.value(destination.root).tensor, destination);
}

TensorSymbol Context::materialise(int index, const Symbol& symbol) {
  if (const auto* tensor = std::get_if<TensorSymbol>(&symbol)) return *tensor;
  const auto& constant = std::get<ConstantSymbol>(symbol);
  ir::Node node;
  node.body = ir::PointwiseBody{
      .steps = {{ir::PointwiseOp::identity, {ir::Ref::constant(constant.value)}, ir::DType::f32}}, .results = {0}};
  return add_node(index, std::move(node), ir::Tensor::dense(constant.dtype, constant.shape));
}

}  // namespace megakittens::frontend
