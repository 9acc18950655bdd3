#include "program/program.hpp"

#include <algorithm>
#include <cstring>

namespace megakittens::program {
namespace {

template <typename T>
bool same_bytes(const std::vector<T>& a, const std::vector<T>& b) {
  static_assert(std::is_trivially_copyable_v<T>);
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

}  // namespace

std::uint32_t Program::waves() const {
  return static_cast<std::uint32_t>((instructions.size() + config.sms - 1) / config.sms);
}

std::uint32_t Program::empty_slots() const {
  if (config.queue == QueueMode::global) return 0;
  return waves() * config.sms - static_cast<std::uint32_t>(instructions.size());
}

std::uint32_t Program::first_node() const {
  return instructions.empty() || instructions[0].icode == 0 ? kNoNode : instructions[0].node;
}

std::vector<OutputRecord> Program::output_records() const {
  std::vector<OutputRecord> records;
  for (std::uint32_t s = 0; s < storages.size(); ++s) {
    const auto shows = [&](const Port& port) { return port.storage == s && port.type != ElementType::boolean; };
    if (storages[s].kind == StorageKind::output && std::ranges::any_of(outputs, shows))
      records.push_back({.storage = s, .bytes = storages[s].bytes});
  }
  return records;
}

bool equal(const Program& a, const Program& b) {
  return a.name == b.name && a.config == b.config && a.storages == b.storages && a.maps == b.maps &&
         same_bytes(a.records, b.records) && a.nodes == b.nodes && same_bytes(a.instructions, b.instructions) &&
         a.counters == b.counters && a.inputs == b.inputs && a.outputs == b.outputs && a.types == b.types;
}

}  // namespace megakittens::program
