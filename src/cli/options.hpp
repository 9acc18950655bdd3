// Options that several commands have, and the input file that is a graph or a program.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "ir/graph.hpp"
#include "program/program.hpp"
#include "runtime/prepare.hpp"

namespace megakittens::cli {

/// "--target, --sms, -o": what --help lists.
std::string option_names(const CLI::App& parser);

/// Throw OptionError naming the option, what it takes, and what was given.
bool parse_switch(const std::string& option, const std::string& text);
std::uint64_t parse_number(const std::string& option, const std::string& text, std::uint64_t least, std::uint64_t most);

/// "--plugin PATH", as often as wanted: opened, and their types registered, as the command line is read.
void add_plugin_option(CLI::App& parser);

/// How a graph is scheduled, as texts until parse().
class ScheduleArguments {
 public:
  void add_to(CLI::App& parser);
  /// What was not given is `usual`.
  runtime::PrepareOptions parse(const runtime::PrepareOptions& usual = {}) const;
  /// The graph with the sizes that --bind gives its symbols. Throws as ir::bind_symbols, OptionError for malformed
  /// text.
  ir::Graph bind(const ir::Graph& graph) const;
  /// The first option that was given, or nothing; --bind counts unless `has_graph`.
  std::string given(bool has_graph = false) const;
  /// Throws OptionError where --dump would print between the parts of a JSON object.
  void expect_no_dump() const;

 private:
  std::vector<std::string> bindings_;
  std::string target_;
  std::string sms_;
  std::string cluster_;
  std::string queue_ = "per-sm";
  std::string tiling_ = "auto";
  std::map<std::string, std::string> passes_;  // by the switch
  std::string dump_;
  std::string numerics_ = "eager";
  std::vector<const CLI::Option*> options_;
};

/// One of the two is there.
struct Input {
  std::optional<ir::Graph> graph;
  std::optional<program::Program> program;
};

/// Throws UserError naming the path where it cannot be read, FormatError where it is neither or damaged.
Input load_input(const std::string& path);
/// Throws OptionError where the file is a program.
ir::Graph load_graph(const std::string& path, const std::string& command);

}  // namespace megakittens::cli
