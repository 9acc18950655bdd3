// A plug-in as a later header would make it.
#include <megakittens/instruction_type.hpp>

extern "C" __attribute__((visibility("default"))) std::uint32_t megakittens_plugin_version() {
  return megakittens::kPluginVersion + 1;
}
extern "C" __attribute__((visibility("default"))) void megakittens_plugin(megakittens::Plugin&) {}
