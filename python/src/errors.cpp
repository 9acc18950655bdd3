#include "support/error.hpp"

#include "bindings.hpp"

namespace megakittens::python {

namespace {

template <class CppError>
nanobind::object bind_error(nanobind::module_& module, const char* name, nanobind::handle base) {
  nanobind::object type = nanobind::exception<CppError>(module, name, base);
  type.attr("__module__") = "megakittens";  // where users import it from, and what a traceback prints
  return type;
}

}  // namespace

// Translators are asked last registered first, so a base class comes before the classes derived from it.
void bind_errors(nanobind::module_& module) {
  const nanobind::object error = bind_error<Error>(module, "Error", PyExc_RuntimeError);
  const nanobind::object user = bind_error<UserError>(module, "UserError", error);
  bind_error<UnsupportedError>(module, "UnsupportedError", user);
  bind_error<FormatError>(module, "FormatError", user);
  bind_error<CapacityError>(module, "CapacityError", user);
  bind_error<OptionError>(module, "OptionError", user);
  bind_error<ExecutionError>(module, "ExecutionError", error);
  bind_error<InternalError>(module, "InternalError", error);
}

}  // namespace megakittens::python
