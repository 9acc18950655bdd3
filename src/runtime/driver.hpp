// The CUDA driver, opened at run time so that everything else works without one. Types and numbers are the driver
// API's, declared here because no toolkit is needed to build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace megakittens::runtime {

using CuResult = int;
using CuDevice = int;
using CuPointer = std::uint64_t;  ///< CUdeviceptr
using CuContext = struct CuContextObject*;
using CuModule = struct CuModuleObject*;
using CuFunction = struct CuFunctionObject*;
using CuStream = struct CuStreamObject*;
using CuEvent = struct CuEventObject*;
using CuGraph = struct CuGraphObject*;
using CuGraphExec = struct CuGraphExecObject*;

/// CUlaunchAttribute: `id` 2 cooperative, 4 cluster dimension, 6 programmatic stream serialization.
struct CuLaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    int cooperative;
    int programmatic;
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
};
static_assert(sizeof(CuLaunchAttribute) == 72);

/// CUlaunchConfig
struct CuLaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  CuStream stream;
  CuLaunchAttribute* attributes;
  unsigned attribute_count;
};

// name in the library, our name, parameters
#define MK_DRIVER_FUNCTIONS(X)                                                                                         \
  X(cuInit, init, (unsigned flags))                                                                                    \
  X(cuGetErrorString, get_error_string, (CuResult result, const char** text))                                         \
  X(cuDriverGetVersion, driver_get_version, (int* version))                                                            \
  X(cuDeviceGetCount, device_get_count, (int* count))                                                                  \
  X(cuDeviceGet, device_get, (CuDevice * device, int ordinal))                                                         \
  X(cuDeviceGetName, device_get_name, (char* name, int length, CuDevice device))                                       \
  X(cuDeviceGetAttribute, device_get_attribute, (int* value, int attribute, CuDevice device))                          \
  X(cuDeviceTotalMem_v2, device_total_mem, (std::size_t * bytes, CuDevice device))                                     \
  X(cuDevicePrimaryCtxRetain, device_primary_ctx_retain, (CuContext * context, CuDevice device))                       \
  X(cuCtxSetCurrent, ctx_set_current, (CuContext context))                                                             \
  X(cuCtxGetCurrent, ctx_get_current, (CuContext * context))                                                           \
  X(cuCtxPushCurrent_v2, ctx_push_current, (CuContext context))                                                        \
  X(cuCtxPopCurrent_v2, ctx_pop_current, (CuContext * context))                                                        \
  X(cuCtxSynchronize, ctx_synchronize, ())                                                                             \
  X(cuThreadExchangeStreamCaptureMode, thread_exchange_capture_mode, (int* mode))                                      \
  X(cuModuleLoadData, module_load_data, (CuModule * module, const void* image))                                        \
  X(cuModuleGetFunction, module_get_function, (CuFunction * function, CuModule module, const char* name))              \
  X(cuModuleUnload, module_unload, (CuModule module))                                                                  \
  X(cuFuncSetAttribute, func_set_attribute, (CuFunction function, int attribute, int value))                           \
  X(cuMemAlloc_v2, mem_alloc, (CuPointer * pointer, std::size_t bytes))                                                \
  X(cuMemFree_v2, mem_free, (CuPointer pointer))                                                                       \
  X(cuMemHostAlloc, mem_host_alloc, (void** pointer, std::size_t bytes, unsigned flags))                               \
  X(cuMemFreeHost, mem_free_host, (void* pointer))                                                                     \
  X(cuMemHostGetDevicePointer_v2, mem_host_get_device_pointer, (CuPointer * pointer, void* host, unsigned flags))      \
  X(cuMemcpyHtoDAsync_v2, memcpy_host_to_device_async,                                                                 \
    (CuPointer to, const void* from, std::size_t bytes, CuStream stream))                                              \
  X(cuMemcpyDtoHAsync_v2, memcpy_device_to_host_async,                                                                 \
    (void* to, CuPointer from, std::size_t bytes, CuStream stream))                                                    \
  X(cuMemsetD8Async, memset_d8_async, (CuPointer to, unsigned char value, std::size_t bytes, CuStream stream))         \
  X(cuStreamCreate, stream_create, (CuStream * stream, unsigned flags))                                                \
  X(cuStreamDestroy_v2, stream_destroy, (CuStream stream))                                                             \
  X(cuStreamSynchronize, stream_synchronize, (CuStream stream))                                                        \
  X(cuStreamGetId, stream_get_id, (CuStream stream, unsigned long long* id))                                           \
  X(cuStreamGetCaptureInfo_v2, stream_get_capture_info,                                                                \
    (CuStream stream, int* status, std::uint64_t* id, CuGraph* graph, const void** dependencies, std::size_t* count))  \
  X(cuStreamBeginCapture_v2, stream_begin_capture, (CuStream stream, int mode))                                        \
  X(cuStreamEndCapture, stream_end_capture, (CuStream stream, CuGraph* graph))                                         \
  X(cuGraphInstantiateWithFlags, graph_instantiate, (CuGraphExec * exec, CuGraph graph, unsigned long long flags))     \
  X(cuGraphLaunch, graph_launch, (CuGraphExec exec, CuStream stream))                                                  \
  X(cuGraphExecDestroy, graph_exec_destroy, (CuGraphExec exec))                                                        \
  X(cuGraphDestroy, graph_destroy, (CuGraph graph))                                                                    \
  X(cuEventCreate, event_create, (CuEvent * event, unsigned flags))                                                    \
  X(cuEventDestroy_v2, event_destroy, (CuEvent event))                                                                 \
  X(cuEventRecord, event_record, (CuEvent event, CuStream stream))                                                     \
  X(cuEventSynchronize, event_synchronize, (CuEvent event))                                                            \
  X(cuEventElapsedTime, event_elapsed_time, (float* milliseconds, CuEvent start, CuEvent end))                         \
  X(cuLaunchKernelEx, launch_kernel,                                                                                   \
    (const CuLaunchConfig* config, CuFunction function, void** parameters, void** extra))                             \
  X(cuTensorMapEncodeTiled, tensor_map_encode_tiled,                                                                   \
    (void* map, int type, unsigned rank, void* address, const std::uint64_t* sizes, const std::uint64_t* strides,      \
     const unsigned* box, const unsigned* element_strides, int interleave, int swizzle, int promotion, int fill))

struct Driver {
#define MK_X(symbol, name, parameters) CuResult(*name) parameters = nullptr;  // NOLINT(bugprone-macro-parentheses)
  MK_DRIVER_FUNCTIONS(MK_X)
#undef MK_X
};

/// The process's driver, opened and initialised by the first call: MEGAKITTENS_CUDA_DRIVER, or libcuda.so.1. Throws
/// UserError saying what is missing: the library, a function of it, or a GPU. A failure is not remembered.
const Driver& driver();

/// Throws where `result` is not success, with the call's name and the driver's own text: CapacityError where the GPU is
/// out of memory, else ExecutionError.
void check(CuResult result, const char* call);

}  // namespace megakittens::runtime

/// MK_CUDA(stream_synchronize(stream)) calls the driver and checks the result.
#define MK_CUDA(call) ::megakittens::runtime::check(::megakittens::runtime::driver().call, #call)
