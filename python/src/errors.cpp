#include "support/error.hpp"

#include "bindings.hpp"
#include "support/printable.hpp"

namespace megakittens::python {
namespace {

/// A class with the translation into it. Python takes only UTF-8, and a message may quote a file.
template <class E>
nanobind::object add(nanobind::module_& module, const char* name, nanobind::handle base) {
  nanobind::object type = nanobind::exception<E>(module, name, base);
  nanobind::register_exception_translator(
      [](const std::exception_ptr& thrown, void* type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const E& error) {
          PyErr_SetString(static_cast<PyObject*>(type), printable(error.what()).c_str());
        }
      },
      type.ptr());
  return type;
}

}  // namespace

// Translators are asked last registered first, so a base class comes before the classes derived from it.
void bind_errors(nanobind::module_& module) {
  const nanobind::object error = add<Error>(module, "Error", PyExc_RuntimeError);
  const nanobind::object user = add<UserError>(module, "UserError", error);
  add<UnsupportedError>(module, "UnsupportedError", user);
  add<FormatError>(module, "FormatError", user);
  add<CapacityError>(module, "CapacityError", user);
  add<OptionError>(module, "OptionError", user);
  add<ExecutionError>(module, "ExecutionError", error);
  add<InternalError>(module, "InternalError", error);
}

}  // namespace megakittens::python
