// megakittens schedule G: from a graph file to a program.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "runtime/program_file.hpp"
#include "support/error.hpp"

namespace megakittens::cli {
namespace {

struct Arguments {
  std::string graph;
  ScheduleArguments scheduling;
  bool json = false;
  std::string out;
};

int run(const Arguments& arguments) {
  if (arguments.json) arguments.scheduling.expect_no_dump();
  const runtime::PrepareOptions options = arguments.scheduling.parse();
  std::error_code unknown;
  if (std::filesystem::equivalent(arguments.graph, arguments.out, unknown))
    throw OptionError(fmt::format("'{}' is the graph itself; the program needs another file", arguments.out));
  Progress progress;
  progress.stage("reading " + arguments.graph);
  const ir::Graph graph = arguments.scheduling.bind(load_graph(arguments.graph, "schedule"));
  progress.stage("scheduling");
  const auto start = std::chrono::steady_clock::now();
  const program::Program program = runtime::prepare(graph, options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!arguments.out.empty()) runtime::save_program(program, arguments.out);
  progress.pause();
  if (arguments.json) {
    print_json(summary_json(program).dump(2) + "\n");
    return kSuccess;
  }
  print(summary_text(program));
  print(("\n" + node_table(program)));
  print_line(fmt::format("\nscheduled in {:.3f} s", seconds));
  if (!arguments.out.empty()) print_line(("written to " + arguments.out));
  return kSuccess;
}

}  // namespace

Command add_schedule(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* parser = app.add_subcommand("schedule", "Turn a graph into a program: instructions, slots and barriers.");
  parser->add_option("G", arguments->graph, "graph file (.mkg.json)")->required()->type_name("FILE");
  arguments->scheduling.add_to(*parser);
  parser->add_flag("--json", arguments->json, "print the summary as one JSON object");
  parser->add_option("-o,--output", arguments->out, "write the program here; as text where the name ends in .txt")
      ->type_name("P")
      ->check([](const std::string& path) { return path.empty() ? std::string("a path is missing") : std::string(); });
  add_plugin_option(*parser);
  return {parser, [arguments] { return run(*arguments); }};
}

}  // namespace megakittens::cli
