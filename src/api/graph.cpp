#include "megakittens/graph.hpp"

#include "api/translate.hpp"
#include "ir/reference.hpp"
#include "runtime/prepare.hpp"
#include "support/error.hpp"

namespace megakittens {
namespace {

TensorInfo info_of(const ir::Value& value, const ir::View& view) {
  return {.name = value.name, .dtype = api::to_public(value.tensor.dtype), .shape = view.sizes};
}

}  // namespace

Graph Graph::load(const std::string& path) {
  return Graph(std::make_shared<const State>(State{ir::load(path)}));
}

Graph Graph::from_json(const std::string& text) {
  return Graph(std::make_shared<const State>(State{ir::from_json(text)}));
}

void Graph::save(const std::string& path) const {
  ir::save(state_->graph, path);
}

std::string Graph::to_json() const {
  return ir::to_json(state_->graph);
}

std::string Graph::to_string() const {
  return ir::to_string(state_->graph);
}

const std::string& Graph::name() const {
  return state_->graph.name;
}

std::vector<TensorInfo> Graph::inputs() const {
  std::vector<TensorInfo> list;
  for (const ir::ValueId id : state_->graph.inputs) {
    const ir::Value& value = state_->graph.value(id);
    list.push_back(info_of(value, ir::View::whole(value.tensor)));
  }
  return list;
}

std::vector<TensorInfo> Graph::outputs() const {
  std::vector<TensorInfo> list;
  for (const ir::Operand& output : state_->graph.outputs)
    list.push_back(info_of(state_->graph.value(output.value), output.view));
  return list;
}

std::size_t Graph::node_count() const {
  return state_->graph.nodes.size();
}

const std::map<std::string, std::int64_t>& Graph::symbols() const {
  return state_->graph.symbols;
}

Graph Graph::bind(const std::map<std::string, std::int64_t>& values) const {
  return Graph(std::make_shared<const State>(State{ir::bind_symbols(state_->graph, values)}));
}

Program Graph::schedule(const ScheduleOptions& options) const {
  runtime::PrepareOptions internal;
  internal.architecture = program::parse_architecture(options.target);
  internal.queue = options.queue == Queue::per_sm ? program::QueueMode::per_sm : program::QueueMode::global;
  internal.sms = options.sms;
  internal.cluster = options.cluster;
  internal.tiling = options.fixed_tiling ? ops::Tiling::seed : ops::Tiling::automatic;
  for (const auto& [name, on] : options.passes) passes::switch_pass(internal.passes, name, on);
  internal.passes.numerics = options.fused_numerics ? passes::Numerics::fused : passes::Numerics::eager;
  return Program(std::make_shared<const Program::State>(Program::State{runtime::prepare(state_->graph, internal)}));
}

Program Graph::schedule() const {
  return schedule(ScheduleOptions{});
}

std::vector<HostTensor> Graph::evaluate(const std::vector<HostTensor>& inputs) const {
  const ir::Graph& graph = state_->graph;
  ir::expect_bound(graph);
  api::expect_tensors(fmt::format("graph '{}'", graph.name), this->inputs(), inputs);
  std::vector<std::vector<float>> storages;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const ir::Tensor& tensor = graph.value(graph.inputs[i]).tensor;
    std::vector<float>& storage = storages.emplace_back(static_cast<std::size_t>(tensor.span()));
    ir::scatter(storage, ir::View::whole(tensor), inputs[i].to_floats());
  }
  const ir::ReferenceResult result = ir::evaluate(graph, std::move(storages));
  std::vector<HostTensor> outputs;
  const std::vector<TensorInfo> infos = this->outputs();
  for (std::size_t k = 0; k < infos.size(); ++k)
    outputs.push_back(HostTensor::from_floats(infos[k].dtype, infos[k].shape, result.outputs[k]));
  return outputs;
}

}  // namespace megakittens
