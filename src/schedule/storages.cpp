#include "schedule/phases.hpp"

#include <deque>
#include <unordered_map>

#include "support/error.hpp"

namespace megakittens::schedule {
namespace {

constexpr std::uint64_t kStorageUnit = 128;

std::uint64_t bytes_of(const ir::Tensor& tensor) {
  return static_cast<std::uint64_t>(tensor.span()) * static_cast<std::uint64_t>(ir::size_of(tensor.dtype));
}

/// What decides when a root value's storage is free again.
struct Lifetime {
  ir::NodeId last_user = -1;
  bool mutated = false;
  bool returned = false;
};

std::vector<Lifetime> lifetimes(const ir::Graph& graph) {
  std::vector<Lifetime> lives(graph.values.size());
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    const auto id = static_cast<ir::NodeId>(n);
    for (const ir::Operand& operand : graph.nodes[n].operands) lives[graph.root(operand.value)].last_user = id;
    for (ir::ValueId output : graph.nodes[n].outputs) {
      Lifetime& life = lives[graph.root(output)];
      life.last_user = id;
      life.mutated = life.mutated || graph.value(output).mutation.has_value();
    }
  }
  for (const ir::Operand& output : graph.outputs) lives[graph.root(output.value)].returned = true;
  return lives;
}

struct Free {
  std::uint32_t storage;
  std::uint32_t end;  // one past the last user's last instruction
  ir::ValueId value;
};

/// Free storages by exact size. They are freed in the order of their last users, so only the first can be the oldest.
class Pool {
 public:
  explicit Pool(std::uint32_t distance) : distance_(distance) {}

  void give(std::uint64_t bytes, Free free) { free_[bytes].push_back(free); }

  std::optional<Free> take(std::uint64_t bytes, std::uint32_t start) {
    auto found = free_.find(bytes);
    if (found == free_.end() || found->second.empty()) return std::nullopt;
    Free first = found->second.front();
    if (std::uint64_t{first.end} + distance_ > start) return std::nullopt;
    found->second.pop_front();
    return first;
  }

 private:
  std::uint32_t distance_;
  std::unordered_map<std::uint64_t, std::deque<Free>> free_;
};

/// The one device of the graph's tensors; those of no device are wherever the others are.
ir::Device device_of(const ir::Graph& graph) {
  const ir::Value* first = nullptr;
  for (const ir::Value& value : graph.values) {
    const ir::Device& device = value.tensor.device;
    // A number, which PyTorch makes on the CPU for tensors anywhere, moves with the program: one that it computes, or a
    // constant, of which the caller has a copy where the others are.
    const bool number = device.kind == ir::DeviceKind::cpu && value.tensor.rank() == 0;
    if (device.kind == ir::DeviceKind::any || number) continue;
    if (first == nullptr) first = &value;
    if (device != first->tensor.device)
      throw UnsupportedError(fmt::format(
          "graph '{}': '{}' is on {} and '{}' on {}; a program runs on one device, so move one tensor to the other's",
          graph.name, first->name, to_string(first->tensor.device), value.name, to_string(device)));
  }
  return first == nullptr ? ir::Device() : first->tensor.device;
}

}  // namespace

StorageTable assign_storages(const ir::Graph& graph, const Placement& placement, const program::Config& config) {
  StorageTable table;
  table.of_value.assign(graph.values.size(), 0);
  const std::uint16_t device = device_of(graph).index;
  const std::vector<Lifetime> lives = lifetimes(graph);
  auto add = [&](ir::ValueId id, program::StorageKind kind, std::uint64_t bytes) {
    table.of_value[id] = static_cast<std::uint32_t>(table.storages.size());
    table.storages.push_back({.name = graph.value(id).name, .kind = kind, .bytes = bytes, .device = device});
  };
  for (ir::ValueId id : graph.inputs) {
    add(id, program::StorageKind::input, bytes_of(graph.value(id).tensor));
    table.storages.back().mutated = lives[id].mutated;
  }

  std::vector<std::vector<ir::ValueId>> freed_after(graph.nodes.size());
  for (std::size_t id = 0; id < graph.values.size(); ++id) {
    const ir::Value& value = graph.values[id];
    if (value.producer < 0 || value.mutation || lives[id].mutated || lives[id].returned) continue;
    if (value.tensor.elements() > 0) freed_after[lives[id].last_user].push_back(static_cast<ir::ValueId>(id));
  }

  Pool pool(config.sms);
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (ir::ValueId id : graph.nodes[n].outputs) {
      const ir::Value& value = graph.value(id);
      if (value.mutation) {
        table.of_value[id] = table.of_value[graph.root(id)];
        continue;
      }
      const std::uint64_t used = std::max<std::uint64_t>(bytes_of(value.tensor), 1);
      const std::uint64_t bytes = (used + kStorageUnit - 1) / kStorageUnit * kStorageUnit;
      const bool poolable = value.tensor.elements() > 0 && !lives[id].mutated;
      std::optional<Free> free = poolable ? pool.take(bytes, placement.nodes[n].first) : std::nullopt;
      if (free) {
        table.of_value[id] = free->storage;
        table.reuses.push_back({.before = free->value, .now = id});
      } else {
        add(id, program::StorageKind::workspace, bytes);
      }
      if (lives[id].returned) table.storages[table.of_value[id]].kind = program::StorageKind::output;
    }
    for (ir::ValueId id : freed_after[n]) {
      const std::uint32_t storage = table.of_value[id];
      pool.give(table.storages[storage].bytes, {.storage = storage, .end = placement.nodes[n].end(), .value = id});
    }
  }
  return table;
}

}  // namespace megakittens::schedule
