// megakittens types: the instruction types of this process, and the generated tests of users' own.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "ops/user/registry.hpp"
#include "runtime/type_test.hpp"
#include "support/error.hpp"

namespace megakittens::cli {
namespace {

struct Arguments {
  bool test = false;
  std::string schedules = "3";
  std::string target;
  std::vector<const CLI::Option*> of_the_test;
};

int run(const Arguments& arguments) {
  runtime::TypeTestOptions options;
  options.schedules = static_cast<int>(parse_number("--schedules", arguments.schedules, 1, 100000));
  options.target = arguments.target;
  for (const CLI::Option* option : arguments.of_the_test)
    if (option->count() > 0 && !arguments.test)
      throw OptionError(fmt::format("{} has no effect without --test", option->get_name()));
  const std::vector<const ops::UserType*> users = ops::user_types();
  if (arguments.test && users.empty()) throw OptionError("--test tests users' instruction types; --plugin brings some");
  std::vector<std::vector<std::string>> rows;
  for (const ops::InstructionType* type : ops::instruction_types())
    rows.push_back({std::string(type->name()), "standard", "", ""});
  for (const ops::UserType* type : users)
    rows.push_back({std::string(type->name()), std::to_string(type->device_half().icode), type->target(),
                    type->device_half().path.string()});
  print(table({"type", "icode", "operation", "device half"}, rows));
  if (!arguments.test) return kSuccess;
  for (const ops::UserType* type : users) {
    Progress progress;
    progress.stage(fmt::format("testing {}", type->name()));
    const runtime::TypeTestReport report = runtime::test_type(std::string(type->name()), options);
    progress.pause();
    print_line(fmt::format("{}: right in {} programs, {} launches under the checker", type->name(), report.programs,
                           report.launches));
  }
  return kSuccess;
}

}  // namespace

Command add_types(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* parser = app.add_subcommand("types", "List instruction types, and test those that plug-ins bring.");
  add_plugin_option(*parser);
  parser->add_flag("--test", arguments->test, "run the generated test of each type that a plug-in brings");
  auto add = [&](const char* name, std::string& text, const std::string& type, const char* help) {
    arguments->of_the_test.push_back(parser->add_option(name, text, help)->type_name(type));
  };
  add("--schedules", arguments->schedules, "N", "with --test: schedules of each program; 3 unless given");
  add("--target", arguments->target, program::target_names("|"),
      "with --test: only this machine; one of each family unless given");
  return {parser, [arguments] { return run(*arguments); }};
}

}  // namespace megakittens::cli
