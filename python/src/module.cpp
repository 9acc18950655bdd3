// The extension megakittens._core: translation only, one bind_* function a file.
#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "megakittens/version.hpp"

NB_MODULE(_core, module) {
  module.doc() = "The compiled part of megakittens; use the names that the package megakittens exports.";
  module.def("version", &megakittens::version, "The library's version, as 'major.minor.patch'.");
  megakittens::python::bind_errors(module);
}
