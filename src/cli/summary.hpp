// A program's numbers, as JSON and as tables.
#pragma once

#include <string>

#include "program/program.hpp"
#include "support/json.hpp"

namespace megakittens::cli {

/// instructions, empty_slots, waves, tensor_slots (storages), barriers (counters), icodes (how many distinct ones are
/// used, padding's noop not counted), icode_names, nodes (name, op, first, count, icode), and what was asked for.
Json summary_json(const program::Program& program);
/// "program 'mlp' for sm_90a: ..." and the figures, each on a line.
std::string summary_text(const program::Program& program);
std::string node_table(const program::Program& program);

}  // namespace megakittens::cli
