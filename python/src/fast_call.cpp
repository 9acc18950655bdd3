#include "fast_call.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory_resource>
#include <numeric>

#include "bindings.hpp"
#include "support/error.hpp"

namespace nb = nanobind;

namespace megakittens::python {
namespace {

using runtime::CuPointer;

constexpr CuPointer kAlignment = 16;  // of every address that a program gets

const dlpack::ExchangeApi* exchange_api(const nb::object& capsule) {
  auto* api = static_cast<dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), dlpack::kCapsule));
  if (api == nullptr) throw nb::python_error();
  while (api != nullptr && api->version.major != 1) api = api->older;
  if (api == nullptr || api->tensor_from_object == nullptr || api->current_stream == nullptr)
    throw UnsupportedError("PyTorch's table for exchanging tensors is of an unknown version");
  return api;
}

FastCall::Input input_of(const nb::dict& item) {
  FastCall::Input input;
  input.place = nb::cast<int>(item["place"]);
  input.constant = item["constant"];
  const auto dtype = nb::cast<std::vector<int>>(item["dtype"]);
  input.dtype = {
      .code = static_cast<std::uint8_t>(dtype.at(0)), .bits = static_cast<std::uint8_t>(dtype.at(1)), .lanes = 1};
  input.number = nb::cast<std::uint16_t>(item["number"]);
  input.sizes = nb::cast<std::vector<std::int64_t>>(item["sizes"]);
  input.strides = nb::cast<std::vector<std::int64_t>>(item["strides"]);
  input.bytes = nb::cast<std::uint64_t>(item["bytes"]);
  input.mutated = nb::cast<bool>(item["mutated"]);
  return input;
}

bool same_layout(const FastCall::Input& input, const std::int64_t* sizes, const std::int64_t* strides) {
  for (std::size_t d = 0; d < input.sizes.size(); ++d) {
    if (sizes[d] != input.sizes[d]) return false;
    // The stride of a dimension of size 1 says nothing, and an empty tensor has no elements to misread.
    if (strides[d] != input.strides[d] && input.sizes[d] != 1 && input.bytes != 0) return false;
  }
  return true;
}

}  // namespace

FastCall::FastCall(nb::object program, const nb::dict& description)
    : program_object_(std::move(program)),
      program_(nb::cast<runtime::CudaProgram*>(program_object_)),
      api_(exchange_api(description["exchange"])),
      results_(nb::cast<std::vector<std::uint32_t>>(description["results"])),
      arguments_(nb::cast<std::size_t>(description["arguments"])),
      tensor_type_(description["tensor_type"]),
      parameter_type_(description["parameter_type"]),
      mismatch_(description["mismatch"]),
      execution_error_(description["execution_error"]),
      empty_(description["empty"]),
      current_device_(description["current_device"]),
      allocate_(description["allocate"]),
      remember_(description["remember"]),
      written_(description["written"]),
      gave_up_(description["gave_up"]) {
  const auto device = nb::cast<std::vector<int>>(description["device"]);
  device_ = {.type = device.at(0), .id = device.at(1)};
  for (nb::handle item : description["inputs"]) {
    inputs_.push_back(input_of(nb::cast<nb::dict>(item)));
    any_mutated_ = any_mutated_ || inputs_.back().mutated;
  }
  for (nb::handle item : description["outputs"])
    outputs_.push_back({item["sizes"], item["strides"], item["dtype"], nb::cast<std::size_t>(item["element_bytes"])});
  std::vector<std::uint32_t> in_order(outputs_.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  results_are_outputs_ = results_ == in_order;
  const nb::object kinds = description["kinds"];
  if (kinds.is_none()) return;
  readable_ = true;
  const auto of_fields = nb::cast<std::vector<std::int8_t>>(kinds[0]);
  field_device_ = {.type = of_fields.at(0), .index = of_fields.at(1)};
  const auto keys = nb::cast<std::vector<std::uint64_t>>(kinds[1]);
  field_keys_ = {keys.at(0), keys.at(1)};
}

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

bool FastCall::inputs_fit(PyObject* const* arguments, std::span<CuPointer> addresses) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    PyObject* tensor = input.place < 0 ? input.constant.ptr() : arguments[input.place];
    const auto* type = reinterpret_cast<PyObject*>(Py_TYPE(tensor));
    if (type != tensor_type_.ptr() && type != parameter_type_.ptr()) return false;
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
    const nb::object reference = nb::steal(PyWeakref_NewRef(tensor, nullptr));
    if (!reference.is_valid() || !nb::steal(PyObject_CallOneArg(remember_.ptr(), reference.ptr())).is_valid())
      return nullptr;
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
  try {
    const nb::gil_scoped_release release;
    program_->launch(static_cast<runtime::CuStream>(stream), inputs, outputs);
  } catch (const ExecutionError& error) {
    const std::string text = error.what();
    if (!nb::steal(PyObject_CallNoArgs(gave_up_.ptr())).is_valid()) return nullptr;
    PyErr_SetString(execution_error_.ptr(), text.c_str());
    return nullptr;
  } catch (const std::exception&) {
    // Nothing was launched: the usual way knows what to do, or says what is wrong.
    return refuse();
  }
  if (any_mutated_ && !note_written(arguments)) return nullptr;
  return results_of(std::move(made));
}

namespace {

constexpr const char* kFastCall = "megakittens.fast_call";

PyObject* call_through(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return static_cast<FastCall*>(PyCapsule_GetPointer(self, kFastCall))->call(arguments, count);
}

void destroy(PyObject* capsule) {
  delete static_cast<FastCall*>(PyCapsule_GetPointer(capsule, kFastCall));
}

nb::object make(nb::object program, const nb::dict& description) {
  static PyMethodDef method = {"fast_call", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call_through)),
                               METH_FASTCALL, "One call of a captured graph: tensors to results."};
  auto fast = std::make_unique<FastCall>(std::move(program), description);
  const nb::object capsule = nb::steal(PyCapsule_New(fast.get(), kFastCall, &destroy));
  if (!capsule.is_valid()) throw nb::python_error();
  fast.release();  // NOLINT(bugprone-unused-return-value): the capsule owns it now
  return nb::steal(PyCFunction_NewEx(&method, capsule.ptr(), nullptr));
}

}  // namespace

void bind_fast_call(nb::module_& module) {
  module.def(
      "fast_call", &make, nb::arg("program"), nb::arg("description"),
      "A function of the graph's tensors that launches once; python/megakittens/cuda.py describes the arguments.");
}

}  // namespace megakittens::python
