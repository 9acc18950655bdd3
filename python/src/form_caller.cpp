// What a compiled function's calls go through first: its forms (python/megakittens/fast.py), without a frame of Python.
#include <nanobind/nanobind.h>
#include <structmember.h>

#include <cstddef>

#include "bindings.hpp"

namespace nb = nanobind;

namespace megakittens::python {
namespace {

struct FormCaller {
  PyObject head;
  vectorcallfunc call;
  PyObject* forms;  // a tuple, or null
};

PyObject* missed = nullptr;  // what a form returns where the call is not for it; lives for good
PyTypeObject* caller_type = nullptr;

FormCaller* self_of(PyObject* object) {
  return reinterpret_cast<FormCaller*>(object);
}

/// The usual way: the object's own method, with arguments as Python has them.
PyObject* call_otherwise(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  const nb::object positional = nb::steal(PyTuple_New(count));
  const nb::object named = nb::steal(PyDict_New());
  if (!positional.is_valid() || !named.is_valid()) return nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(positional.ptr(), i, Py_NewRef(arguments[i]));
  for (Py_ssize_t i = 0; names != nullptr && i < PyTuple_GET_SIZE(names); ++i)
    if (PyDict_SetItem(named.ptr(), PyTuple_GET_ITEM(names, i), arguments[count + i]) != 0) return nullptr;
  static PyObject* const method = PyUnicode_InternFromString("_call");
  return PyObject_CallMethodObjArgs(self, method, positional.ptr(), named.ptr(), nullptr);
}

/// Whether the error that is set is that the arguments do not fit a function's parameters: raised before any of its
/// code ran. A form has those that its function had. Clears it then.
bool did_not_fit() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  if (trace == nullptr && type != nullptr && PyErr_GivenExceptionMatches(type, PyExc_TypeError) != 0) {
    Py_DECREF(type);
    Py_XDECREF(value);
    return true;
  }
  PyErr_Restore(type, value, trace);
  return false;
}

PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* names) {
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  const nb::object forms = nb::borrow(self_of(self)->forms);  // another thread may put others in their place
  const Py_ssize_t known = forms.is_valid() && PyTuple_CheckExact(forms.ptr()) ? PyTuple_GET_SIZE(forms.ptr()) : 0;
  for (Py_ssize_t i = 0; i < known; ++i) {
    PyObject* form = PyTuple_GET_ITEM(forms.ptr(), i);
    nb::object result = nb::steal(PyObject_Vectorcall(form, arguments, static_cast<std::size_t>(count), names));
    if (result.ptr() == missed || (!result.is_valid() && did_not_fit())) continue;
    static PyObject* const method = PyUnicode_InternFromString("_prefer");
    if (i > 0 && result.is_valid() && !nb::steal(PyObject_CallMethodOneArg(self, method, form)).is_valid())
      return nullptr;
    return result.release().ptr();
  }
  return call_otherwise(self, arguments, count, names);
}

PyObject* create(PyTypeObject* type, PyObject* /*arguments*/, PyObject* /*names*/) {
  PyObject* made = type->tp_alloc(type, 0);
  if (made != nullptr) self_of(made)->call = &call;
  return made;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(self_of(self)->forms);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(self_of(self)->forms);
  return 0;
}

void destroy(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* make_type() {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(FormCaller, call), READONLY, nullptr},
      {"_forms", T_OBJECT, offsetof(FormCaller, forms), 0, "Functions that are tried in turn, in a tuple."},
      {nullptr, 0, 0, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(&create)},
                                {Py_tp_traverse, reinterpret_cast<void*>(&traverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(&clear)},
                                {Py_tp_dealloc, reinterpret_cast<void*>(&destroy)},
                                {Py_tp_call, reinterpret_cast<void*>(&PyVectorcall_Call)},
                                {Py_tp_members, members},
                                {0, nullptr}};
  static PyType_Spec spec = {
      .name = "megakittens._core.FormCaller",
      .basicsize = sizeof(FormCaller),
      .itemsize = 0,
      .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
      .slots = slots};
  return reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
}

/// Python gives a class with a `__call__` of its own a slot that looks that up: this puts ours back, for who calls an
/// object. Who looks at the class, as Dynamo does when it traces a call, still finds the method.
nb::object calls_forms(nb::object type) {
  auto* object = reinterpret_cast<PyTypeObject*>(type.ptr());
  if (!PyType_Check(type.ptr()) || PyType_IsSubtype(object, caller_type) == 0)
    throw nb::type_error("not a class derived from FormCaller");
  object->tp_call = &PyVectorcall_Call;
  object->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  PyType_Modified(object);
  return type;
}

}  // namespace

void bind_form_caller(nb::module_& module) {
  missed = PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  caller_type = make_type();
  if (missed == nullptr || caller_type == nullptr) throw nb::python_error();
  module.attr("MISSED") = nb::borrow(missed);
  module.attr("FormCaller") = nb::borrow(reinterpret_cast<PyObject*>(caller_type));
  module.def(
      "calls_forms", &calls_forms, nb::arg("type"),
      "Decorates a class derived from FormCaller: its objects' `_forms` answer calls, and where all return MISSED, "
      "`_call(args, kwargs)`. `_prefer(form)` is told of a form other than the first that answered.");
}

}  // namespace megakittens::python
