// What a call asks of its parameters before anything else: functions and tensors are as they were captured.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
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
  TensorCheck(const nb::list& tensors, const nb::list& checks, const std::vector<std::size_t>& asked,
              const nb::list& state) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      PyObject* tensor = nb::handle(tensors[i]).ptr();
      const torch_tensor::Tensor& found = torch_tensor::fields(tensor);
      wanted_.push_back({.type = nb::borrow(reinterpret_cast<PyObject*>(Py_TYPE(tensor))),
                         .kind = found,
                         .layout = {found.sizes(), found.sizes() + found.dims},
                         .check = nb::borrow(nb::handle(checks[i])),
                         .gradient = nb::cast<bool>(nb::handle(tensor).attr("requires_grad"))});
      wanted_.back().layout.insert(wanted_.back().layout.end(), found.strides(), found.strides() + found.dims);
    }
    for (const std::size_t number : asked) wanted_.at(number).always = true;
    for (const nb::handle question : state)
      state_.push_back({.function = question[0], .arguments = nb::cast<nb::tuple>(question[1]), .answer = question[2]});
  }

  PyObject* same(PyObject* const* tensors, Py_ssize_t count) const {
    if (count != static_cast<Py_ssize_t>(wanted_.size())) Py_RETURN_FALSE;
    std::uint64_t seen = 0;  // a bit for each tensor, chosen by its address: most have one of their own
    for (Py_ssize_t i = 0; i < count; ++i) {
      if (!like(wanted_[i], tensors[i])) Py_RETURN_FALSE;
      const std::uint64_t bit = std::uint64_t{1} << (reinterpret_cast<std::uintptr_t>(tensors[i]) * kSpread >> 58);
      if ((seen & bit) != 0 && std::find(tensors, tensors + i, tensors[i]) != tensors + i) Py_RETURN_FALSE;
      seen |= bit;
    }
    for (const Question& question : state_) {
      PyObject* const* arguments = &PyTuple_GET_ITEM(question.arguments.ptr(), 0);
      const nb::object answer =
          nb::steal(PyObject_Vectorcall(question.function.ptr(), arguments, question.arguments.size(), nullptr));
      if (!answer.is(question.answer)) return no_unless_error(answer);
    }
    for (Py_ssize_t i = 0; i < count; ++i)
      if (const nb::object answer = ask(wanted_[i], tensors[i]); !answer.is(Py_True)) return no_unless_error(answer);
    Py_RETURN_TRUE;
  }

 private:
  static constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;  // its high bits depend on all bits of the other factor

  struct Wanted {
    nb::object type;
    torch_tensor::Tensor kind;         // its pointers are of the past
    std::vector<std::int64_t> layout;  // sizes, then strides
    nb::object check;                  // of PyTorch's
    bool gradient;                     // it requires gradients
    bool always = false;               // ask it whatever the fields say
  };

  static bool like(const Wanted& wanted, PyObject* tensor) {
    if (reinterpret_cast<PyObject*>(Py_TYPE(tensor)) != wanted.type.ptr()) return false;
    const torch_tensor::Tensor& found = torch_tensor::fields(tensor);
    if (!found.plain() || !found.same_kind(wanted.kind) || found.dims != wanted.kind.dims) return false;
    const std::int64_t* sizes = found.sizes();
    const std::int64_t* strides = found.strides();
    const std::int64_t* layout = wanted.layout.data();
    for (std::uint64_t d = 0; d < found.dims; ++d)
      if (sizes[d] != layout[d] || strides[d] != layout[found.dims + d]) return false;
    return true;
  }

  /// What fields do not tell. That a tensor requires no gradients they do where autograd knows nothing of it; its
  /// attribute may be asked where `state_` has said that no torch-function mode hears of it.
  nb::object ask(const Wanted& wanted, PyObject* tensor) const {
    static PyObject* const requires_grad = PyUnicode_InternFromString("requires_grad");
    const bool known = torch_tensor::fields(tensor).autograd == nullptr;
    if (wanted.always || (!known && state_.empty())) return nb::steal(PyObject_CallOneArg(wanted.check.ptr(), tensor));
    if (known) return nb::bool_(!wanted.gradient);
    const nb::object found = nb::steal(PyObject_GetAttr(tensor, requires_grad));
    return found.is_valid() ? nb::bool_(found.is(Py_True) == wanted.gradient) : nb::object();
  }

  /// The answer of a check that has met this: False, or null with the exception that was set.
  static PyObject* no_unless_error(const nb::object& answer) {
    return answer.is_valid() ? Py_NewRef(Py_False) : nullptr;
  }

  struct Question {
    nb::object function;
    nb::tuple arguments;
    nb::object answer;
  };

  std::vector<Wanted> wanted_;
  std::vector<Question> state_;
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

nb::object tensor_check(const nb::list& tensors, const nb::list& checks, const std::vector<std::size_t>& asked,
                        const nb::list& state) {
  static PyMethodDef method = {"tensor_check", as_fastcall(&check_through), METH_FASTCALL, nullptr};
  auto made = std::make_unique<TensorCheck>(tensors, checks, asked, state);
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
      "tensor_check", &tensor_check, nb::arg("tensors"), nb::arg("checks"), nb::arg("asked"), nb::arg("state"),
      "A function that says whether so many tensors are like these, and none given twice. `checks` are questions to "
      "PyTorch about one tensor each, put where fields do not tell all and for the numbers `asked`; `state` are "
      "(function, arguments, the answer that it has to give).");
  static PyMethodDef method = {"function_is", as_fastcall(&function_is), METH_FASTCALL,
                               "Whether a function has this code, these defaults and these keyword defaults."};
  module.attr("function_is") = nb::steal(PyCFunction_NewEx(&method, nullptr, nullptr));
}

}  // namespace megakittens::python
