// Parses the command line, runs one command, and turns errors into a line and an exit code.
#include <cstdio>
#include <exception>
#include <new>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "megakittens/version.hpp"
#include "support/error.hpp"
#include "support/log.hpp"
#include "support/options.hpp"
#include "support/printable.hpp"

namespace megakittens::cli {
namespace {

constexpr const char* kFooter =
    "Exit codes: 0 success; 1 a wrong result or a finding; 2 a mistake in the call or in a file; 3 a defect of "
    "megakittens.\nG is a graph file (.mkg.json), P a program file that `schedule -o P` wrote.";

/// Refuses what no option took: with the known ones, since the command is known here.
void expect_no_rest(const CLI::App& parser) {
  const std::vector<std::string> rest = parser.remaining();
  for (const std::string& argument : rest)
    if (argument.starts_with('-') && argument.size() > 1)
      throw OptionError(fmt::format("unknown option '{}' of '{}'; known are {}", argument.substr(0, argument.find('=')),
                                    parser.get_name(), option_names(parser)));
  if (!rest.empty())
    throw OptionError(fmt::format("'{}' takes no further argument '{}'", parser.get_name(), rest.front()));
}

/// An empty text is what an unset shell variable leaves: no value, and not as if the option were not there.
void expect_values(const CLI::App& parser) {
  for (const CLI::Option* option : parser.get_options())
    for (const std::string& value : option->results())
      if (value.empty() && !option->get_positional())
        throw OptionError(
            fmt::format("{} of '{}' takes a value, and was given an empty one", option->get_name(), parser.get_name()));
}

int run_command(int argc, char** argv) {
  CLI::App app("Schedules graphs into programs of one persistent GPU kernel, runs and explains them.", "megakittens");
  app.set_version_flag("--version", std::string("megakittens ") + version());
  app.footer(kFooter);
  app.allow_extras();
  app.require_subcommand(0, 1);  // a second command's name is an argument too many of the first
  std::vector<Command> commands = {add_schedule(app), add_run(app),    add_check(app), add_inspect(app),
                                   add_types(app),    add_doctor(app), add_cubins(app)};
  std::string names;
  for (const Command& command : commands) {
    command.parser->allow_extras();
    command.parser->footer(kFooter);
    names += (names.empty() ? "" : ", ") + command.parser->get_name();
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    throw OptionError(fmt::format("{}; `megakittens --help` and `megakittens COMMAND --help` explain", error.what()));
  }
  log_enabled(LogLevel::warning, "cli");  // the log's first use: it tells now if its own option is wrong
  for (const std::string& knob : unknown_knobs()) log(LogLevel::warning, "cli", "{}", knob);
  for (const Command& command : commands)
    if (command.parser->parsed()) {
      expect_no_rest(*command.parser);
      expect_values(*command.parser);
      return command.run();
    }
  if (app.remaining().empty()) throw OptionError(fmt::format("a command is missing; known are {}", names));
  throw OptionError(fmt::format("unknown command '{}'; known are {}", app.remaining().front(), names));
}

int report(const char* what, int code) {
  std::fflush(stdout);
  std::fprintf(stderr, "megakittens: %s\n", printable(what).c_str());
  return code;
}

int guarded(int argc, char** argv) {
  try {
    const int code = run_command(argc, argv);
    // Buffered output that cannot be written is lost: on a full disk, say.
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return report("cannot write the output", kUserMistake);
    return code;
  } catch (const UserError& error) {
    return report(error.what(), kUserMistake);
  } catch (const ExecutionError& error) {
    return report(error.what(), kWrongResult);
  } catch (const std::bad_alloc&) {
    return report("this machine has not enough memory for that", kUserMistake);
  } catch (const std::exception& error) {
    return report(error.what(), kInternalFault);
  } catch (...) {
    return report("something was thrown that is no std::exception", kInternalFault);
  }
}

}  // namespace
}  // namespace megakittens::cli

int main(int argc, char** argv) {
  return megakittens::cli::guarded(argc, argv);
}
