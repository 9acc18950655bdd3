#include "support/error.hpp"

#include "bindings.hpp"

namespace megakittens::python {

// Translators are asked last registered first, so a base class comes before the classes derived from it.
void bind_errors(nanobind::module_& module) {
  // NOLINTBEGIN(bugprone-throw-keyword-missing, bugprone-unused-raii): these objects register classes
  const nanobind::object error = nanobind::exception<Error>(module, "Error", PyExc_RuntimeError);
  const nanobind::object user = nanobind::exception<UserError>(module, "UserError", error);
  nanobind::exception<UnsupportedError>(module, "UnsupportedError", user);
  nanobind::exception<FormatError>(module, "FormatError", user);
  nanobind::exception<CapacityError>(module, "CapacityError", user);
  nanobind::exception<OptionError>(module, "OptionError", user);
  nanobind::exception<ExecutionError>(module, "ExecutionError", error);
  nanobind::exception<InternalError>(module, "InternalError", error);
  // NOLINTEND(bugprone-throw-keyword-missing, bugprone-unused-raii)
}

}  // namespace megakittens::python
