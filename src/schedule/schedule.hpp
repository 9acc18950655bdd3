// Turns a graph into a program: which instructions, in which order, on which storage, waiting for what.
#pragma once

#include <functional>

#include "ops/instruction_type.hpp"

namespace megakittens::schedule {

/// Finds the instruction type of a node; ops::type_for unless a test supplies its own types.
using Resolver = std::function<const ops::InstructionType&(const ir::Graph&, const ir::Node&, const ops::PlanOptions&)>;

struct ScheduleOptions {
  program::Config config;
  ops::Tiling tiling = ops::Tiling::automatic;
  /// The program's name; the graph's where empty.
  std::string name;
  Resolver resolve;
  std::string tile{};  ///< ops::PlanOptions::tile
};

/// Verifies the graph first. The program keeps every rule of schedule::verify: each dependency points to a
/// lower instruction number, so that both queue modes always move.
/// The program is verified where verifies_schedules() is true and no resolver supplies types unknown to verify():
/// UserError where a user's type declares too little. Throws FormatError as ir::verify does, UnsupportedError where no
/// type takes a node or a node overwrites what other tiles of it read, OptionError for an impossible configuration,
/// CapacityError where a limit of the program's format is reached.
program::Program schedule(const ir::Graph& graph, const ScheduleOptions& options);

}  // namespace megakittens::schedule
