// Which storages and tensor maps of a program travel in the parameters of each launch, and which lie in tables that a
// workspace keeps: a launch's own may change from call to call, a table must not while a launch reads it. Storages that
// keep their addresses travel too where there is room, and their maps: a CTA finds a parameter without a trip to
// memory, and needs no fence before it uses a map among them (rows 17 and 18).
#pragma once

#include <vector>

#include "program/program.hpp"

namespace megakittens::runtime {

/// Numbers are the program's; what travels comes first in the device's numbering, in the order of these lists.
struct CallLayout {
  std::vector<std::uint32_t> call_storages;   ///< change from call to call
  std::vector<std::uint32_t> other_storages;  ///< travel too; with those at most program::kMaxCallStorages
  std::vector<std::uint32_t> call_maps;       ///< of those storages, at most program::kMaxCallMaps
  std::vector<std::uint32_t> other_maps;      ///< travel too; with those at most program::kMaxCallMaps
  std::vector<std::uint32_t> bound_storages;  ///< inputs and outputs of which the tables hold addresses or maps
  std::vector<std::uint32_t> storage_number;  ///< on the device, by the program's number
  std::vector<std::uint32_t> map_number;      ///< likewise
};

/// `bound[i]` says that input i keeps its address as a rule (a weight); missing ones are taken to be false. Outputs and
/// other inputs go to the parameters while these have room, those with few maps first; the rest joins the tables. What
/// room is left takes other storages' addresses, those of the first node first, and other maps in the nodes' order.
CallLayout lay_out(const program::Program& program, const std::vector<bool>& bound);

/// The program's node records with the device's numbers.
std::vector<program::NodeRecord> renumbered_records(const program::Program& program, const CallLayout& layout);

/// Its outputs' records likewise.
std::vector<program::OutputRecord> renumbered_outputs(const program::Program& program, const CallLayout& layout);

}  // namespace megakittens::runtime
