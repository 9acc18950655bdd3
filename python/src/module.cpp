// The extension megakittens._core: translation only, one bind_* function a file.
#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "megakittens/version.hpp"

NB_MODULE(_core, module) {
  // PyTorch's caches of compiled code keep graphs until the process ends, after this module is gone.
  nanobind::set_leak_warnings(false);
  module.doc() = "The compiled part of megakittens; use the names that the package megakittens exports.";
  module.def("version", &megakittens::version, "The library's version, as 'major.minor.patch'.");
  megakittens::python::bind_errors(module);
  megakittens::python::bind_graph(module);
  megakittens::python::bind_program(module);
  megakittens::python::bind_types(module);
  megakittens::python::bind_cuda(module);
  megakittens::python::bind_fast_call(module);
  megakittens::python::bind_tensor_check(module);
  megakittens::python::bind_form_caller(module);
}
