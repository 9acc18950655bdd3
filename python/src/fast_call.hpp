// What one call of a captured graph needs to know beforehand, so that the call itself is a few microseconds.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cuda_program.hpp"
#include "dlpack.hpp"
#include "torch_tensor.hpp"

namespace megakittens::python {

/// A function of the graph's tensors that launches once on PyTorch's current stream and returns the results as a tuple.
/// Nothing is written or launched where a tensor is not as it was captured: then the exception `mismatch` is raised.
class FastCall {
 public:
  struct Input {
    int place = -1;             ///< among the arguments; -1: `constant`
    nanobind::object constant;  ///< a tensor of the graph itself
    dlpack::DataType dtype{};   ///< all that follows is what the tensor has to be
    std::uint16_t number = 0;   ///< of dtype, in a tensor's fields
    std::vector<std::int64_t> sizes, strides;
    std::uint64_t bytes = 0;  ///< from its first element to the end of its last
    bool mutated = false;     ///< the graph writes it
  };
  struct Output {
    nanobind::object sizes, strides, dtype;  ///< arguments of `empty`
    std::size_t element_bytes = 0;
    std::uint64_t bytes = 0;
  };

  FastCall(nanobind::object program, const nanobind::dict& description);

  /// `arguments` are borrowed. Returns a new reference, or null with an exception set.
  PyObject* call(PyObject* const* arguments, Py_ssize_t count) const;

 private:
  /// Whether the tensor is as it was captured, and where: from its fields, or asked of PyTorch.
  bool look_at(const Input& input, PyObject* tensor, runtime::CuPointer& address) const;
  bool ask_for(const Input& input, PyObject* tensor, runtime::CuPointer& address) const;
  /// Whether a gradient would be asked for through this tensor.
  bool wants_gradient(PyObject* tensor) const;
  bool inputs_fit(PyObject* const* arguments, std::span<runtime::CuPointer> addresses) const;
  /// The call's output tensors as a tuple, or null.
  PyObject* make_outputs() const;
  /// Whether an output that calls share, one after the other, is also read by this one.
  bool reads_outputs(std::span<const runtime::CuPointer> inputs, std::span<const runtime::CuPointer> outputs) const;
  bool output_address(const Output& output, PyObject* tensor, runtime::CuPointer& address) const;
  /// Tells PyTorch which inputs have new contents; false with an exception set.
  bool note_written(PyObject* const* arguments) const;
  PyObject* results_of(nanobind::object made) const;
  PyObject* refuse() const;

  nanobind::object program_object_;
  CudaProgram* program_;
  const dlpack::ExchangeApi* api_;
  dlpack::Device device_{};
  bool readable_ = false;  // tensors have their fields where torch_tensor.hpp says; these are then theirs:
  torch_tensor::Device field_device_{};
  std::array<std::uint64_t, 2> field_keys_{};
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<std::uint32_t> results_;  // numbers of outputs
  bool results_are_outputs_ = true;     // in their order
  std::size_t arguments_ = 0;
  bool any_mutated_ = false;
  bool grad_mode_ = false;
  nanobind::object tensor_type_, parameter_type_;
  nanobind::object mismatch_, execution_error_;
  nanobind::object empty_;           // (sizes, strides, dtype) -> tensor on the current device; or None
  nanobind::object current_device_;  // () -> int
  nanobind::object allocate_;        // () -> list of tensors, whichever device is current
  nanobind::object written_;         // (list of tensors that were written)
};

}  // namespace megakittens::python
