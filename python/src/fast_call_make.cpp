// Making a FastCall from what python/megakittens/cuda.py knows of a captured graph.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <numeric>

#include "bindings.hpp"
#include "fast_call.hpp"
#include "support/error.hpp"

namespace nb = nanobind;

namespace megakittens::python {
namespace {

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

}  // namespace

FastCall::FastCall(nb::object program, const nb::dict& description)
    : program_object_(std::move(program)),
      program_(nb::cast<CudaProgram*>(program_object_)),
      api_(exchange_api(description["exchange"])),
      results_(nb::cast<std::vector<std::uint32_t>>(description["results"])),
      arguments_(nb::cast<std::size_t>(description["arguments"])),
      grad_mode_(nb::cast<bool>(description["grad_mode"])),
      tensor_type_(description["tensor_type"]),
      parameter_type_(description["parameter_type"]),
      mismatch_(description["mismatch"]),
      execution_error_(description["execution_error"]),
      empty_(description["empty"]),
      current_device_(description["current_device"]),
      allocate_(description["allocate"]),
      written_(description["written"]) {
  const auto device = nb::cast<std::vector<int>>(description["device"]);
  device_ = {.type = device.at(0), .id = device.at(1)};
  for (nb::handle item : description["inputs"]) {
    inputs_.push_back(input_of(nb::cast<nb::dict>(item)));
    any_mutated_ = any_mutated_ || inputs_.back().mutated;
  }
  for (nb::handle item : description["outputs"])
    outputs_.push_back({item["sizes"], item["strides"], item["dtype"], nb::cast<std::size_t>(item["element_bytes"]),
                        nb::cast<std::uint64_t>(item["bytes"])});
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
