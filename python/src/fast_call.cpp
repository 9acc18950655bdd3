#include "fast_call.hpp"

#include <memory_resource>

#include "support/error.hpp"

namespace nb = nanobind;

namespace megakittens::python {
namespace {

using runtime::CuPointer;

constexpr CuPointer kAlignment = 16;  // of every address that a program gets

bool same_layout(const FastCall::Input& input, const std::int64_t* sizes, const std::int64_t* strides) {
  for (std::size_t d = 0; d < input.sizes.size(); ++d) {
    if (sizes[d] != input.sizes[d]) return false;
    // The stride of a dimension of size 1 says nothing, and an empty tensor has no elements to misread.
    if (strides[d] != input.strides[d] && input.sizes[d] != 1 && input.bytes != 0) return false;
  }
  return true;
}

}  // namespace

PyObject* FastCall::refuse() const {
  PyErr_SetNone(mismatch_.ptr());
  return nullptr;
}

bool FastCall::look_at(const Input& input, PyObject* tensor, CuPointer& address) const {
  const torch_tensor::Tensor& found = torch_tensor::fields(tensor);
  if (!found.plain() || found.dtype != input.number || found.device != field_device_ ||
      (found.keys != field_keys_[0] && found.keys != field_keys_[1]) || found.dims != input.sizes.size() ||
      !same_layout(input, found.sizes(), found.strides()))
    return false;
  address = found.address(input.dtype.bits / 8);
  return found.holds(input.bytes, input.dtype.bits / 8);
}

bool FastCall::ask_for(const Input& input, PyObject* tensor, CuPointer& address) const {
  dlpack::Tensor found{};
  if (api_->tensor_from_object(tensor, &found) != 0) {
    PyErr_Clear();
    return false;
  }
  if (found.dtype != input.dtype || found.device != device_ ||
      found.dims != static_cast<std::int32_t>(input.sizes.size()) || !same_layout(input, found.sizes, found.strides))
    return false;
  address = reinterpret_cast<CuPointer>(found.data) + found.byte_offset;
  return true;
}

bool FastCall::wants_gradient(PyObject* tensor) const {
  if (!grad_mode_ || (readable_ && torch_tensor::fields(tensor).autograd == nullptr)) return false;
  static PyObject* const name = PyUnicode_InternFromString("requires_grad");
  const nb::object wants = nb::steal(PyObject_GetAttr(tensor, name));
  if (!wants.is_valid()) PyErr_Clear();
  return wants.ptr() != Py_False;
}

bool FastCall::inputs_fit(PyObject* const* arguments, std::span<CuPointer> addresses) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    PyObject* tensor = input.place < 0 ? input.constant.ptr() : arguments[input.place];
    const auto* type = reinterpret_cast<PyObject*>(Py_TYPE(tensor));
    if (type != tensor_type_.ptr() && type != parameter_type_.ptr()) return false;
    if (wants_gradient(tensor)) return false;
    if (readable_ ? !look_at(input, tensor, addresses[i]) : !ask_for(input, tensor, addresses[i])) return false;
    if (addresses[i] % kAlignment != 0 || (addresses[i] == 0 && input.bytes != 0)) return false;
  }
  if (any_mutated_)
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      for (std::size_t k = 0; inputs_[i].mutated && k < inputs_.size(); ++k)
        if (k != i && addresses[i] < addresses[k] + inputs_[k].bytes && addresses[k] < addresses[i] + inputs_[i].bytes)
          return false;
  return true;
}

bool FastCall::note_written(PyObject* const* arguments) const {
  nb::list written;
  for (const Input& input : inputs_)
    if (input.mutated) written.append(input.place < 0 ? input.constant : nb::borrow(arguments[input.place]));
  return nb::steal(PyObject_CallOneArg(written_.ptr(), written.ptr())).is_valid();
}

PyObject* FastCall::make_outputs() const {
  if (empty_.is_none() || PyLong_AsLong(nb::steal(PyObject_CallNoArgs(current_device_.ptr())).ptr()) != device_.id) {
    const nb::object made = nb::steal(PyObject_CallNoArgs(allocate_.ptr()));
    return made.is_valid() ? PySequence_Tuple(made.ptr()) : nullptr;
  }
  nb::object made = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(outputs_.size())));
  if (!made.is_valid()) return nullptr;
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    PyObject* arguments[] = {outputs_[k].sizes.ptr(), outputs_[k].strides.ptr(), outputs_[k].dtype.ptr()};
    PyObject* tensor = PyObject_Vectorcall(empty_.ptr(), arguments, std::size(arguments), nullptr);
    if (tensor == nullptr) return nullptr;
    PyTuple_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(k), tensor);
  }
  return made.release().ptr();
}

bool FastCall::output_address(const Output& output, PyObject* tensor, CuPointer& address) const {
  if (readable_ && reinterpret_cast<PyObject*>(Py_TYPE(tensor)) == tensor_type_.ptr() &&
      torch_tensor::fields(tensor).plain()) {
    address = torch_tensor::fields(tensor).address(output.element_bytes);
    return true;
  }
  dlpack::Tensor found{};
  if (api_->tensor_from_object(tensor, &found) != 0) return false;
  address = reinterpret_cast<CuPointer>(found.data) + found.byte_offset;
  return true;
}

bool FastCall::reads_outputs(std::span<const CuPointer> inputs, std::span<const CuPointer> outputs) const {
  if (!empty_.is_none()) return false;  // fresh ones
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t k = 0; k < outputs.size(); ++k)
      if (inputs[i] < outputs[k] + outputs_[k].bytes && outputs[k] < inputs[i] + inputs_[i].bytes) return true;
  return false;
}

PyObject* FastCall::results_of(nb::object made) const {
  if (results_are_outputs_) return made.release().ptr();
  nb::object results = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(results_.size())));
  if (!results.is_valid()) return nullptr;
  for (std::size_t r = 0; r < results_.size(); ++r)
    PyTuple_SET_ITEM(results.ptr(), static_cast<Py_ssize_t>(r),
                     Py_NewRef(PyTuple_GET_ITEM(made.ptr(), static_cast<Py_ssize_t>(results_[r]))));
  return results.release().ptr();
}

PyObject* FastCall::call(PyObject* const* arguments, Py_ssize_t count) const {
  // On the stack for all but the longest lists. Not kept between calls: making outputs may run other Python code.
  std::array<std::byte, 1024> room;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
  std::pmr::vector<CuPointer> inputs(inputs_.size(), &memory);
  std::pmr::vector<CuPointer> outputs(outputs_.size(), &memory);
  if (count != static_cast<Py_ssize_t>(arguments_) || !inputs_fit(arguments, inputs)) return refuse();
  void* stream = nullptr;
  if (device_.type == dlpack::kCuda && api_->current_stream(device_.type, device_.id, &stream) != 0) return nullptr;
  nb::object made = nb::steal(make_outputs());
  if (!made.is_valid()) return nullptr;
  for (std::size_t k = 0; k < outputs_.size(); ++k)
    if (!output_address(outputs_[k], PyTuple_GET_ITEM(made.ptr(), static_cast<Py_ssize_t>(k)), outputs[k]))
      return nullptr;
  if (reads_outputs(inputs, outputs)) return refuse();
  try {
    const nb::gil_scoped_release release;
    program_->launch(static_cast<runtime::CuStream>(stream), inputs, outputs);
  } catch (const ExecutionError& error) {
    PyErr_SetString(execution_error_.ptr(), error.what());
    return nullptr;
  } catch (const std::exception&) {
    // Nothing was launched: the usual way knows what to do, or says what is wrong.
    return refuse();
  }
  if (any_mutated_ && !note_written(arguments)) return nullptr;
  return results_of(std::move(made));
}

}  // namespace megakittens::python
