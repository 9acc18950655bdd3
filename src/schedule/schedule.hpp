// Turns a graph into a program: which instructions, in which order, on which storage, waiting for what.
#pragma once

#include <functional>

#include "ops/instruction_type.hpp"

namespace megakittens::schedule {

/// Finds the instruction type of a node; ops::type_for unless a test brings types of its own.
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
/// That is verified where verifies_schedules() says so and no resolver brings types that verify() does not know:
/// UserError where a user's type says too little. Throws FormatError as ir::verify does, UnsupportedError where no type
/// takes a node or a node overwrites what other tiles of it read, OptionError for an impossible configuration,
/// CapacityError where a limit of the program's format is reached.
program::Program schedule(const ir::Graph& graph, const ScheduleOptions& options);

}  // namespace megakittens::schedule
