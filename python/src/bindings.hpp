// What each file of the extension adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace megakittens::python {

/// Our exception classes as Python classes with the same hierarchy, and the translation of one into the other.
void bind_errors(nanobind::module_& module);

/// megakittens.Graph: from FX or a file, to text and files, and the reference evaluation.
void bind_graph(nanobind::module_& module);

/// megakittens._core.schedule and Program: scheduling, files, and running on the emulator.
void bind_program(nanobind::module_& module);

/// Users' instruction types: registering them, plug-ins, the generated test.
void bind_types(nanobind::module_& module);

/// megakittens._core.CudaProgram and what asks about GPUs.
void bind_cuda(nanobind::module_& module);

/// megakittens._core.fast_call.
void bind_fast_call(nanobind::module_& module);

/// megakittens._core.tensor_check and function_is: what a call asks of its parameters.
void bind_tensor_check(nanobind::module_& module);

/// megakittens._core.FormCaller: what a compiled function's calls go through first.
void bind_form_caller(nanobind::module_& module);

}  // namespace megakittens::python
