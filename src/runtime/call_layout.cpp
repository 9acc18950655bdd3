#include "runtime/call_layout.hpp"

#include <algorithm>
#include <span>

#include "program/launch.hpp"
#include "support/error.hpp"

namespace megakittens::runtime {
namespace {

using program::StorageKind;

/// New numbers: the members of `first` in their order, then the others in theirs.
std::vector<std::uint32_t> numbers(std::size_t count, const std::vector<std::uint32_t>& first) {
  constexpr std::uint32_t kNone = 0xffffffff;
  std::vector<std::uint32_t> result(count, kNone);
  std::uint32_t next = 0;
  for (const std::uint32_t old : first) result[old] = next++;
  for (std::uint32_t& number : result)
    if (number == kNone) number = next++;
  return result;
}

std::span<const program::OperandRecord> operands_of(const program::NodeRecord& record) {
  return {record.operands, record.operand_count};
}

/// What travels: `first`, and as many `others` as there is room for, in the order in which they are added.
class Travelling {
 public:
  Travelling(const std::vector<std::uint32_t>& first, std::vector<std::uint32_t>& others, std::size_t room)
      : all_(first), others_(others), room_(room) {}

  void add(std::uint32_t number) {
    if (all_.size() == room_ || std::ranges::find(all_, number) != all_.end()) return;
    all_.push_back(number);
    others_.push_back(number);
  }
  const std::vector<std::uint32_t>& all() const { return all_; }

 private:
  std::vector<std::uint32_t> all_;
  std::vector<std::uint32_t>& others_;
  std::size_t room_;
};

}  // namespace

CallLayout lay_out(const program::Program& program, const std::vector<bool>& bound) {
  const std::size_t count = program.storages.size();
  std::vector<std::vector<std::uint32_t>> maps_of(count);
  for (std::uint32_t m = 0; m < program.maps.size(); ++m) maps_of[program.maps[m].storage].push_back(m);
  std::vector<bool> fixed(count, false);
  for (std::size_t i = 0; i < program.inputs.size() && i < bound.size(); ++i)
    if (bound[i]) fixed[program.inputs[i].storage] = true;

  std::vector<std::uint32_t> changing;
  CallLayout layout;
  for (std::uint32_t s = 0; s < count; ++s) {
    if (program.storages[s].kind == StorageKind::workspace) continue;
    (fixed[s] ? layout.bound_storages : changing).push_back(s);
  }
  // Outputs are fresh in every call; inputs often are not.
  std::ranges::stable_sort(changing, {}, [&](std::uint32_t s) {
    return std::pair(program.storages[s].kind != StorageKind::output, maps_of[s].size());
  });
  for (const std::uint32_t s : changing) {
    const bool room = layout.call_storages.size() < program::kMaxCallStorages &&
                      layout.call_maps.size() + maps_of[s].size() <= program::kMaxCallMaps;
    (room ? layout.call_storages : layout.bound_storages).push_back(s);
    if (room) layout.call_maps.insert(layout.call_maps.end(), maps_of[s].begin(), maps_of[s].end());
  }
  Travelling storages(layout.call_storages, layout.other_storages, program::kMaxCallStorages);
  if (const std::uint32_t node = program.first_node(); node < program.records.size())
    for (const program::OperandRecord& operand : operands_of(program.records[node])) storages.add(operand.storage);
  for (std::uint32_t s = 0; s < count; ++s) storages.add(s);
  layout.storage_number = numbers(count, storages.all());
  Travelling maps(layout.call_maps, layout.other_maps, program::kMaxCallMaps);
  for (const program::NodeRecord& record : program.records)
    for (const program::OperandRecord& operand : operands_of(record))
      if (operand.map != program::kNoMap) maps.add(operand.map);
  layout.map_number = numbers(program.maps.size(), maps.all());
  // What travels whole is read from no table.
  std::erase_if(layout.bound_storages, [&](std::uint32_t s) {
    return layout.storage_number[s] < storages.all().size() &&
           std::ranges::all_of(maps_of[s], [&](std::uint32_t m) { return layout.map_number[m] < maps.all().size(); });
  });
  return layout;
}

std::vector<program::NodeRecord> renumbered_records(const program::Program& program, const CallLayout& layout) {
  std::vector<program::NodeRecord> records = program.records;
  for (program::NodeRecord& record : records)
    for (std::uint32_t k = 0; k < record.operand_count; ++k) {
      program::OperandRecord& operand = record.operands[k];
      operand.storage = layout.storage_number[operand.storage];
      if (operand.map != program::kNoMap) operand.map = static_cast<std::uint16_t>(layout.map_number[operand.map]);
    }
  return records;
}

std::vector<program::OutputRecord> renumbered_outputs(const program::Program& program, const CallLayout& layout) {
  std::vector<program::OutputRecord> records = program.output_records();
  for (program::OutputRecord& record : records) record.storage = layout.storage_number[record.storage];
  return records;
}

}  // namespace megakittens::runtime
