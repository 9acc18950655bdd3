// What a call asks of its parameters before anything else: functions and tensors are as they were captured.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "bindings.hpp"
#include "torch_tensor.hpp"

namespace nb = nanobind;

namespace megakittens::python {
namespace {

/// (function, code, defaults, keyword defaults): whether the function has just these. Dynamo's guards do not ask.
PyObject* function_is(PyObject* /*module*/, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 4 || !PyFunction_Check(arguments[0])) {
    PyErr_SetString(PyExc_TypeError, "function_is takes a Python function and three of its attributes");
    return nullptr;
  }
  const auto* function = reinterpret_cast<const PyFunctionObject*>(arguments[0]);
  const auto same = [](const PyObject* now, const PyObject* then) { return (now == nullptr ? Py_None : now) == then; };
  return PyBool_FromLong(function->func_code == arguments[1] && same(function->func_defaults, arguments[2]) &&
                         same(function->func_kwdefaults, arguments[3]));
}

class TensorCheck {
 public:
  TensorCheck(const nb::list& tensors, nb::object guards, std::vector<Py_ssize_t> asked)
      : guards_(std::move(guards)), asked_(std::move(asked)) {
    for (const nb::handle tensor : tensors) {
      const torch_tensor::Tensor& found = torch_tensor::fields(tensor.ptr());
      wanted_.push_back({.type = nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(tensor.ptr()))),
                         .kind = found,
                         .layout = {found.sizes(), found.sizes() + found.dims},
                         .gradient = nb::cast<bool>(tensor.attr("requires_grad"))});
      wanted_.back().layout.insert(wanted_.back().layout.end(), found.strides(), found.strides() + found.dims);
    }
  }

  PyObject* same(PyObject* const* tensors, Py_ssize_t count) const {
    if (count != static_cast<Py_ssize_t>(wanted_.size()) || !all_like(tensors)) Py_RETURN_FALSE;
    for (Py_ssize_t i = 1; i < count; ++i)
      for (Py_ssize_t k = 0; k < i; ++k)
        if (tensors[i] == tensors[k]) Py_RETURN_FALSE;
    // One of each kind is asked PyTorch's own way, which looks at the thread's state of dispatch too.
    const nb::object shown = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(asked_.size())));
    if (!shown.is_valid()) return nullptr;
    for (std::size_t k = 0; k < asked_.size(); ++k)
      PyTuple_SET_ITEM(shown.ptr(), static_cast<Py_ssize_t>(k), Py_NewRef(tensors[asked_[k]]));
    return PyObject_Call(guards_.ptr(), shown.ptr(), nullptr);
  }

 private:
  struct Wanted {
    nb::object type;
    torch_tensor::Tensor kind;         // its pointers are of the past
    std::vector<std::int64_t> layout;  // sizes, then strides
    bool gradient;
  };

  bool all_like(PyObject* const* tensors) const {
    for (std::size_t i = 0; i < wanted_.size(); ++i) {
      const Wanted& wanted = wanted_[i];
      if (reinterpret_cast<PyObject*>(Py_TYPE(tensors[i])) != wanted.type.ptr()) return false;
      const torch_tensor::Tensor& found = torch_tensor::fields(tensors[i]);
      if (!found.plain() || !found.same_kind(wanted.kind) || found.dims != wanted.kind.dims) return false;
      const std::int64_t* sizes = found.sizes();
      const std::int64_t* strides = found.strides();
      for (std::uint64_t d = 0; d < found.dims; ++d)
        if (sizes[d] != wanted.layout[d] || strides[d] != wanted.layout[found.dims + d]) return false;
      if (requires_grad(tensors[i], found) != wanted.gradient) return false;
    }
    return true;
  }

  static bool requires_grad(PyObject* tensor, const torch_tensor::Tensor& found) {
    if (found.autograd == nullptr) return false;
    static PyObject* const name = PyUnicode_InternFromString("requires_grad");
    return nb::steal(PyObject_GetAttr(tensor, name)).is(Py_True);
  }

  std::vector<Wanted> wanted_;
  nb::object guards_;
  std::vector<Py_ssize_t> asked_;
};

/// What is read of a tensor, for comparison with what PyTorch says.
nb::dict tensor_fields(const nb::handle tensor, std::size_t element_bytes) {
  const torch_tensor::Tensor& found = torch_tensor::fields(tensor.ptr());
  nb::list sizes;
  nb::list strides;
  for (std::uint64_t d = 0; d < found.dims; ++d) {
    sizes.append(found.sizes()[d]);
    strides.append(found.strides()[d]);
  }
  nb::dict result;
  result["place"] = reinterpret_cast<std::uintptr_t>(&found);
  result["plain"] = found.plain();
  result["keys"] = found.keys;
  result["dtype"] = static_cast<int>(found.dtype);
  result["device"] = nb::make_tuple(static_cast<int>(found.device.type), static_cast<int>(found.device.index));
  result["sizes"] = sizes;
  result["strides"] = strides;
  result["address"] = found.plain() ? found.address(element_bytes) : 0;
  result["autograd"] = found.autograd != nullptr;
  return result;
}

constexpr const char* kTensorCheck = "megakittens.tensor_check";

TensorCheck* of_capsule(PyObject* capsule) {
  return static_cast<TensorCheck*>(PyCapsule_GetPointer(capsule, kTensorCheck));
}

PyObject* check_through(PyObject* self, PyObject* const* tensors, Py_ssize_t count) {
  return of_capsule(self)->same(tensors, count);
}

template <class Function>
PyCFunction as_fastcall(Function* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

nb::object tensor_check(const nb::list& tensors, nb::object guards, std::vector<Py_ssize_t> asked) {
  static PyMethodDef method = {"tensor_check", as_fastcall(&check_through), METH_FASTCALL, nullptr};
  auto made = std::make_unique<TensorCheck>(tensors, std::move(guards), std::move(asked));
  const nb::object capsule =
      nb::steal(PyCapsule_New(made.get(), kTensorCheck, [](PyObject* self) { delete of_capsule(self); }));
  if (!capsule.is_valid()) throw nb::python_error();
  made.release();  // NOLINT(bugprone-unused-return-value): the capsule owns it now
  return nb::steal(PyCFunction_NewEx(&method, capsule.ptr(), nullptr));
}

}  // namespace

void bind_tensor_check(nb::module_& module) {
  module.def("tensor_fields", &tensor_fields, nb::arg("tensor"), nb::arg("element_bytes"),
             "What is read of a tensor of PyTorch's, whose class is torch.Tensor or torch.nn.Parameter.");
  module.def(
      "tensor_check", &tensor_check, nb::arg("tensors"), nb::arg("guards"), nb::arg("asked"),
      "A function that says whether so many tensors are like these, and none given twice; `guards` is asked about "
      "those with the numbers `asked`.");
  static PyMethodDef method = {"function_is", as_fastcall(&function_is), METH_FASTCALL,
                               "Whether a function has this code, these defaults and these keyword defaults."};
  module.attr("function_is") = nb::steal(PyCFunction_NewEx(&method, nullptr, nullptr));
}

}  // namespace megakittens::python
