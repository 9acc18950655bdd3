// megakittens cubins --output DIR: the interpreters as files that a package ships.
#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "cli/print.hpp"
#include "jit/interpreter.hpp"
#include "support/error.hpp"
#include "support/files.hpp"

namespace megakittens::cli {
namespace {

int run(const std::string& folder) {
  std::error_code fault;
  std::filesystem::create_directories(folder, fault);
  if (fault) throw UserError(fmt::format("cannot create '{}': {}", folder, fault.message()));
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".cubin") std::filesystem::remove(entry.path());
  for (const program::Target& target : program::kTargets) {
    const jit::CompileResult result = jit::compile(jit::interpreter_request(target.architecture));
    const std::filesystem::path path = std::filesystem::path(folder) / jit::shipped_name(target.architecture);
    write_file(path, jit::shipped_file(target.architecture, result.cubin));
    print_line(fmt::format("{}: {} bytes, {:.1f} s", path.string(), result.cubin.size(), result.seconds));
  }
  return kSuccess;
}

}  // namespace

Command add_cubins(CLI::App& app) {
  auto folder = std::make_shared<std::string>();
  CLI::App* parser = app.add_subcommand("cubins", "Compile the interpreters into files that a package ships.");
  parser->add_option("--output", *folder, "folder; its other cubins are removed")->required()->type_name("DIR");
  return {parser, [folder] { return run(*folder); }};
}

}  // namespace megakittens::cli
