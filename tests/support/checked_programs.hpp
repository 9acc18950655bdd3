// Programs that the checker's own tests and its report run: small, and each of a kind that has hand-offs of its own.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/explorer.hpp"
#include "ir/graph.hpp"
#include "runtime/prepare.hpp"

namespace megakittens::test {

/// A graph by name, and how it is scheduled.
struct CheckedProgram {
  std::string name;
  std::function<ir::Graph()> graph;
  runtime::PrepareOptions options;
};

/// For planted faults: as few instructions as show the hand-off. emulator::NamedFault::shown_by names one.
const std::vector<CheckedProgram>& fault_programs();
/// For silence: what real programs are made of.
const std::vector<CheckedProgram>& silent_programs();
/// A random graph of the property tests, on a target and in a queue mode that follow from the seed.
CheckedProgram random_program(int seed);
/// One of the two lists. Throws InternalError where neither has it.
const CheckedProgram& checked_program(std::string_view name);

program::Program prepare(const CheckedProgram& program);
/// Random inputs by seed, as the storages of `program`.
emulator::StorageContents random_contents(const ir::Graph& graph, const program::Program& program, std::uint64_t seed);

}  // namespace megakittens::test
