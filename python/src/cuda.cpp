// Programs on a GPU in Python: loading, launching with bare addresses, and what there is to ask.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "cuda_program.hpp"
#include "jit/compile.hpp"
#include "runtime/cuda_run.hpp"
#include "scheduled.hpp"

namespace nb = nanobind;

namespace megakittens::python {
namespace {

using Addresses = std::vector<runtime::CuPointer>;

nb::dict device(int ordinal) {
  const runtime::CudaDevice& device = runtime::CudaDevice::get(ordinal);
  const runtime::PrepareOptions usual = runtime::usual_options(device);
  nb::dict result;
  result["name"] = device.name();
  result["target"] = std::string(program::name_of(usual.architecture));
  result["sms"] = usual.sms;
  result["cluster"] = usual.cluster;
  return result;
}

}  // namespace

void bind_cuda(nb::module_& module) {
  nb::class_<CudaProgram>(module, "CudaProgram", "A program on a GPU: one launch a call.")
      .def(
          "__init__",
          [](CudaProgram* self, const Scheduled& scheduled, int device, const std::vector<bool>& bound) {
            nb::gil_scoped_release release;
            new (self) CudaProgram(scheduled.program(), runtime::CudaDevice::get(device), bound);
          },
          nb::arg("program"), nb::arg("device") = 0, nb::arg("bound") = std::vector<bool>(),
          "Loads it. `bound` says for each input whether its address is the same in most calls.")
      .def(
          "launch",
          [](CudaProgram& self, std::uintptr_t stream, const Addresses& inputs, const Addresses& outputs) {
            nb::gil_scoped_release release;
            self.launch(reinterpret_cast<runtime::CuStream>(stream), inputs, outputs);
          },
          nb::arg("stream"), nb::arg("inputs"), nb::arg("outputs"),
          "Launches once on a stream, given the addresses of all inputs and of all storages of kind output.")
      .def("check", &CudaProgram::check, nb::call_guard<nb::gil_scoped_release>(),
           "Raises ExecutionError where an earlier launch is known to have given up.")
      .def("synchronize", &CudaProgram::synchronize, nb::call_guard<nb::gil_scoped_release>(),
           "Waits for the GPU, then checks.")
      .def("close", &CudaProgram::close, nb::call_guard<nb::gil_scoped_release>(),
           "Waits for the GPU and gives the memory back; later launches raise UserError.")
      .def("plant_fault", &CudaProgram::plant_fault, nb::call_guard<nb::gil_scoped_release>(),
           "For tests: the next launch on each workspace gives up.")
      .def_prop_ro("bytes", &CudaProgram::bytes, nb::call_guard<nb::gil_scoped_release>(),
                   "Device memory that the program and its workspaces hold.")
      .def_prop_ro("workspaces", &CudaProgram::workspaces, nb::call_guard<nb::gil_scoped_release>(),
                   "How many streams and captured graphs have one.");
  module.def("cuda_device", &device, nb::arg("ordinal") = 0,
             "Name of a GPU, and the target, sms and cluster that programs for it have.");
  module.def("compilation_count", &jit::compilation_count, "How often NVRTC has compiled in this process.");
}

}  // namespace megakittens::python
