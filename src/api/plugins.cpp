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
  const runtime::TypeTestReport report = runtime::test_type(name, {.schedules = test.schedules, .target = test.target});
  return {.programs = report.programs, .launches = report.launches};
}

}  // namespace megakittens
