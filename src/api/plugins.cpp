#include "megakittens/plugins.hpp"

#include "ops/user/registry.hpp"
#include "runtime/plugin.hpp"
#include "runtime/type_test.hpp"

namespace megakittens {

void register_type(std::shared_ptr<InstructionType> type) {
  ops::register_user_type(std::move(type));
}

void unregister_type(const std::string& name) {
  ops::unregister_user_type(name);
}

void load_plugin(const std::string& path) {
  runtime::load_plugin(path);
}

TypeTestResult test_type(const std::string& name, const TypeTest& test) {
  runtime::TypeTestOptions options;
  options.schedules = test.schedules;
  if (!test.target.empty()) options.architectures = {program::parse_architecture(test.target)};
  const runtime::TypeTestReport report = runtime::test_type(name, options);
  return {.programs = report.programs, .launches = report.launches};
}

}  // namespace megakittens
