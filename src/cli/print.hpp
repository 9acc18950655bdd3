// What commands say on standard output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "program/program.hpp"
#include "support/json.hpp"

namespace megakittens::cli {

/// Names come from files: control characters are escaped.
void print(std::string_view text);
void print_line(std::string_view text);
/// Text of one JSON value.
void print_json(std::string_view json);

// Text in columns.

/// Columns as wide as their widest cell, two blanks apart; a column whose heading begins with '>' is aligned right.
/// Ends with a line end; no blanks at the ends of lines.
std::string table(const std::vector<std::string>& headings, const std::vector<std::vector<std::string>>& rows);

/// "1.5 MB": bytes in the largest unit that leaves at least one.
std::string bytes_text(double bytes);

// A program's numbers, as JSON and as tables.

/// instructions, empty_slots, waves, tensor_slots (storages), barriers (counters), icodes (how many distinct ones are
/// used, padding's noop not counted), icode_names, nodes (name, op, first, count, icode), and what was asked for.
Json summary_json(const program::Program& program);
/// "program 'mlp' for sm_90a: ..." and the figures, each on a line.
std::string summary_text(const program::Program& program);
std::string node_table(const program::Program& program);

}  // namespace megakittens::cli
