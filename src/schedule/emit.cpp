#include "schedule/phases.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "support/error.hpp"

namespace megakittens::schedule {
namespace {

// The two lists of element types are one: names and order agree.
static_assert(static_cast<int>(program::ElementType::bf16) == static_cast<int>(ir::DType::bf16));
static_assert(static_cast<int>(program::ElementType::f16) == static_cast<int>(ir::DType::f16));
static_assert(static_cast<int>(program::ElementType::f32) == static_cast<int>(ir::DType::f32));
static_assert(static_cast<int>(program::ElementType::i64) == static_cast<int>(ir::DType::i64));
static_assert(static_cast<int>(program::ElementType::i32) == static_cast<int>(ir::DType::i32));
static_assert(static_cast<int>(program::ElementType::boolean) == static_cast<int>(ir::DType::boolean));

/// Tensor maps of all nodes, each distinct one once.
class MapTable {
 public:
  explicit MapTable(std::vector<program::TensorMapDescription>& maps) : maps_(maps) {}

  std::uint16_t add(const program::TensorMapDescription& map) {
    std::vector<std::uint64_t> key{map.storage, static_cast<std::uint64_t>(map.type), map.rank,
                                   static_cast<std::uint64_t>(map.offset), static_cast<std::uint64_t>(map.swizzle)};
    key.insert(key.end(), std::begin(map.sizes), std::end(map.sizes));
    key.insert(key.end(), std::begin(map.strides), std::end(map.strides));
    key.insert(key.end(), std::begin(map.box), std::end(map.box));
    auto [entry, fresh] = known_.try_emplace(std::move(key), static_cast<std::uint16_t>(maps_.size()));
    if (fresh) {
      if (maps_.size() + 1 >= program::kNoMap)
        throw CapacityError(fmt::format("the program needs more than {} tensor maps", program::kNoMap - 1));
      maps_.push_back(map);
    }
    return entry->second;
  }

 private:
  std::vector<program::TensorMapDescription>& maps_;
  std::map<std::vector<std::uint64_t>, std::uint16_t> known_;
};

/// The record of one of a node's plans, with storages and maps.
program::NodeRecord record_of(const ir::Graph& graph, const ir::Node& node, const ops::NodePlan& plan,
                              const std::vector<std::uint32_t>& storage_of, MapTable& maps) {
  program::NodeRecord record = plan.record;
  auto value_of = [&](std::size_t k) {
    return k < node.operands.size() ? node.operands[k].value : node.outputs[k - node.operands.size()];
  };
  for (std::size_t k = 0; k < record.operand_count; ++k) {
    program::OperandRecord& operand = record.operands[k];
    operand.storage = storage_of[value_of(k)];
    if (operand.map == program::kNoMap) continue;
    MK_CHECK(operand.map < plan.maps.size(), "{}: operand {} has tensor map {} of {}", graph.describe(node), k,
             operand.map, plan.maps.size());
    program::TensorMapDescription map = plan.maps[operand.map];
    map.storage = operand.storage;
    operand.map = maps.add(map);
  }
  return record;
}

/// A record and an entry of `nodes` for each plan; gives the number of each node's first.
std::vector<std::uint32_t> emit_nodes(const ir::Graph& graph, const Placement& placement,
                                      const std::vector<std::uint32_t>& storage_of, const Stream& stream,
                                      program::Program& program) {
  MapTable maps(program.maps);
  std::vector<std::uint32_t> first_record;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const ir::Node& node = graph.nodes[n];
    first_record.push_back(static_cast<std::uint32_t>(program.records.size()));
    std::uint32_t first = stream.node_first[n];
    std::string name = node.name;
    for (const ops::NodePlan* plan = placement.nodes[n].plan.get(); plan != nullptr; plan = plan->rest.get()) {
      program::NodeRecord& record = program.records.emplace_back(record_of(graph, node, *plan, storage_of, maps));
      record.number = static_cast<std::uint32_t>(program.nodes.size());
      const auto count = static_cast<std::uint32_t>(plan->count);
      program.nodes.push_back({.name = name,
                               .op = std::string(ir::op_of(node)),
                               .source = node.source,
                               .icode = plan->icode,
                               .first = first,
                               .count = count,
                               .bytes = plan->cost.bytes,
                               .operations = plan->cost.operations});
      first += count;
      name += ".rest";
    }
  }
  return first_record;
}

void emit_instructions(const Placement& placement, const std::vector<NodeTiles>& tiles, const Stream& stream,
                       const std::vector<std::uint32_t>& first_record, program::Program& program) {
  const Dependencies& dependencies = stream.dependencies;
  program.counters = dependencies.counters;
  program.instructions.resize(stream.items.size());
  for (std::size_t i = 0; i < stream.items.size(); ++i) {
    const Stream::Item& item = stream.items[i];
    program::Instruction& instruction = program.instructions[i];
    instruction.node = first_record[item.node];
    instruction.number = static_cast<std::uint32_t>(i);
    std::uint64_t release_order = program::kReleaseInOrder;
    if (item.instruction >= 0) {
      const NodeTiles& own = tiles[item.node];
      const PlannedInstruction part = planned(placement.nodes[item.node], static_cast<std::uint32_t>(item.instruction));
      instruction.node += part.part;
      instruction.icode = part.plan->icode;
      release_order = part.plan->release_order;
      const auto begin = own.index.begin() + own.index_first[item.instruction];
      const auto end = own.index.begin() + own.index_first[item.instruction + 1];
      std::copy(begin, end, instruction.index);
      instruction.index_count = static_cast<std::uint8_t>(end - begin);
    }
    instruction.release_order[0] = static_cast<std::uint32_t>(release_order);
    instruction.release_order[1] = static_cast<std::uint32_t>(release_order >> 32);
    for (std::uint32_t w = dependencies.wait_first[i]; w < dependencies.wait_first[i + 1]; ++w) {
      const GuardedWait& wait = dependencies.waits[w];
      const std::uint32_t arrivals = dependencies.counters[wait.counter].arrivals;
      const int at = instruction.wait_count++;
      instruction.waits[at] = {.counter = wait.counter, .needed = arrivals, .arrivals = arrivals};
      (at < 4 ? instruction.guards[at] : instruction.guards_high[at - 4]) = static_cast<std::uint8_t>(wait.guard);
    }
    for (std::uint32_t a = dependencies.arrival_first[i]; a < dependencies.arrival_first[i + 1]; ++a)
      instruction.arrivals[instruction.arrival_count++] = dependencies.arrivals[a];
  }
}

/// The CTAs of a pair keep equal page maps: padding releases its pages in the order of what its partner works on.
void align_pairs(program::Program& program) {
  for (std::size_t i = 0; i + 1 < program.instructions.size() && program.config.cluster == 2; i += 2) {
    program::Instruction& first = program.instructions[i];
    program::Instruction& second = program.instructions[i + 1];
    if (first.icode == 0 && second.icode != 0) std::ranges::copy(second.release_order, first.release_order);
    if (first.icode != 0 && second.icode == 0) std::ranges::copy(first.release_order, second.release_order);
  }
}

program::Port port(const ir::Value& value, const ir::View& view, std::uint32_t storage) {
  return {.name = value.name,
          .storage = storage,
          .type = value.tensor.dtype,
          .offset = view.offset,
          .sizes = view.sizes,
          .strides = view.strides};
}

}  // namespace

program::Program emit(const ir::Graph& graph, const ScheduleOptions& options, const Placement& placement,
                      const std::vector<NodeTiles>& tiles, StorageTable storages, const Stream& stream) {
  program::Program program;
  program.name = options.name.empty() ? graph.name : options.name;
  program.config = options.config;
  program.storages = std::move(storages.storages);
  const std::vector<std::uint32_t> first_record = emit_nodes(graph, placement, storages.of_value, stream, program);
  emit_instructions(placement, tiles, stream, first_record, program);
  align_pairs(program);
  for (ir::ValueId id : graph.inputs)
    program.inputs.push_back(port(graph.value(id), ir::View::whole(graph.value(id).tensor), storages.of_value[id]));
  for (const ir::Operand& output : graph.outputs)
    program.outputs.push_back(port(graph.value(output.value), output.view, storages.of_value[output.value]));
  return program;
}

}  // namespace megakittens::schedule
