// A plug-in whose own code throws while it brings its types.
#include <megakittens/instruction_type.hpp>
#include <stdexcept>

MEGAKITTENS_PLUGIN(plugin) {
  (void)plugin;
  throw std::runtime_error("no licence");
}
