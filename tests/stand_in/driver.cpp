// The driver's functions, and four of our own by which tests set and ask.
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <utility>

#include "device/tensor_map_fields.hpp"
#include "program/launch.hpp"
#include "state.hpp"

namespace megakittens::stand_in {

State& state() {
  static State& one = *[] {
    auto* made = new State;
    const char* given = std::getenv("MK_STAND_IN");
    std::istringstream settings(given == nullptr ? "" : given);
    for (std::string setting; std::getline(settings, setting, ',');)
      if (const std::size_t equals = setting.find('='); equals != std::string::npos)
        made->settings[setting.substr(0, equals)] = std::stoll(setting.substr(equals + 1));
    return made;
  }();
  return one;
}

namespace {

using namespace runtime;

constexpr CuResult kInvalidValue = 1, kOutOfMemory = 2, kNoDevice = 100, kInvalidContext = 201,
                   kStreamCaptureUnsupported = 900;
constexpr std::size_t kAlignment = 256;

std::int64_t setting(const char* name) {
  return state().settings[name];
}
CuResult count(const char* name, CuResult result = 0) {
  ++state().counts[name];
  return result;
}
CuContext context_of(CuDevice device) {
  return reinterpret_cast<CuContext>(std::uintptr_t{0x1000} + static_cast<std::uintptr_t>(device));
}
Stream* stream_of(CuStream stream) {
  return reinterpret_cast<Stream*>(stream);
}

CuResult allocate(void** pointer, std::size_t bytes) {
  const std::scoped_lock lock(state().mutex);
  if (state().counts["bytes"] + static_cast<std::int64_t>(bytes) > setting("memory")) return kOutOfMemory;
  *pointer = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  std::memset(*pointer, 0xcd, bytes);
  state().allocations[reinterpret_cast<std::uintptr_t>(*pointer)] = bytes;
  state().counts["bytes"] += static_cast<std::int64_t>(bytes);
  return 0;
}

CuResult release(void* pointer) {
  const std::scoped_lock lock(state().mutex);
  auto found = state().allocations.find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == state().allocations.end()) return kInvalidValue;
  state().counts["bytes"] -= static_cast<std::int64_t>(found->second);
  state().allocations.erase(found);
  std::free(pointer);
  return 0;
}

void* at(CuPointer address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace
}  // namespace megakittens::stand_in

using namespace megakittens;
using namespace megakittens::runtime;
using namespace megakittens::stand_in;

// NOLINTBEGIN(readability-identifier-naming): the driver's names
extern "C" {

void mk_stand_in_set(const char* name, std::int64_t value) {
  const std::scoped_lock lock(state().mutex);
  state().settings[name] = value;
}
std::int64_t mk_stand_in_count(const char* name) {
  const std::scoped_lock lock(state().mutex);
  return state().counts[name];
}
void mk_stand_in_memory(const void* data, std::size_t bytes) {
  const std::scoped_lock lock(state().mutex);
  state().foreign[reinterpret_cast<std::uintptr_t>(data)] = bytes;
  if (bytes == 0) state().foreign.erase(reinterpret_cast<std::uintptr_t>(data));
}
const char* mk_stand_in_report() {
  return state().report.c_str();
}

CuResult cuInit(unsigned) {
  return setting("devices") < 0 ? kNoDevice : 0;
}
CuResult cuGetErrorString(CuResult result, const char** text) {
  *text = result == kOutOfMemory ? "out of memory" : result == 719 ? "unspecified launch failure" : "some error";
  return 0;
}
CuResult cuDriverGetVersion(int* version) {
  *version = static_cast<int>(setting("version"));
  return 0;
}
CuResult cuDeviceGetCount(int* devices) {
  *devices = static_cast<int>(setting("devices"));
  return 0;
}
CuResult cuDeviceGet(CuDevice* device, int ordinal) {
  *device = ordinal;
  return 0;
}
CuResult cuDeviceGetName(char* name, int length, CuDevice) {
  std::strncpy(name, "stand-in", static_cast<std::size_t>(length));
  return 0;
}
CuResult cuDeviceGetAttribute(int* value, int attribute, CuDevice) {
  const char* name = attribute == 75 ? "major" : attribute == 76 ? "minor" : attribute == 16 ? "sms" : "other";
  *value = attribute == 13 ? 1'980'000 : static_cast<int>(setting(name));
  return 0;
}
CuResult cuDeviceTotalMem_v2(std::size_t* bytes, CuDevice) {
  *bytes = static_cast<std::size_t>(setting("memory"));
  return 0;
}
CuResult cuDevicePrimaryCtxRetain(CuContext* context, CuDevice device) {
  *context = context_of(device);
  return count("cuDevicePrimaryCtxRetain");
}
CuResult cuCtxSetCurrent(CuContext context) {
  state().contexts = {context};
  return 0;
}
CuResult cuCtxGetCurrent(CuContext* context) {
  const std::scoped_lock lock(state().mutex);
  *context = state().contexts.empty() ? nullptr : state().contexts.back();
  return 0;
}
CuResult cuCtxPushCurrent_v2(CuContext context) {
  const std::scoped_lock lock(state().mutex);
  state().contexts.push_back(context);
  return 0;
}
CuResult cuCtxPopCurrent_v2(CuContext* context) {
  const std::scoped_lock lock(state().mutex);
  if (state().contexts.empty()) return kInvalidContext;
  *context = state().contexts.back();
  state().contexts.pop_back();
  return 0;
}
CuResult cuCtxSynchronize() {
  count("cuCtxSynchronize");
  return state().capturing > 0 ? kStreamCaptureUnsupported : 0;
}
CuResult cuThreadExchangeStreamCaptureMode(int* mode) {
  thread_local int current = 0;
  std::swap(*mode, current);
  return 0;
}
CuResult cuModuleLoadData(CuModule* module, const void* image) {
  *module = reinterpret_cast<CuModule>(const_cast<void*>(image));
  return count("cuModuleLoadData", static_cast<CuResult>(setting("load_result")));
}
CuResult cuModuleGetFunction(CuFunction* function, CuModule module, const char*) {
  *function = reinterpret_cast<CuFunction>(module);
  return 0;
}
CuResult cuModuleUnload(CuModule) {
  return 0;
}
CuResult cuFuncSetAttribute(CuFunction, int, int) {
  return 0;
}
CuResult cuMemAlloc_v2(CuPointer* pointer, std::size_t bytes) {
  void* memory = nullptr;
  const CuResult result = allocate(&memory, bytes);
  *pointer = reinterpret_cast<CuPointer>(memory);
  return count("cuMemAlloc", result);
}
CuResult cuMemFree_v2(CuPointer pointer) {
  return count("cuMemFree", release(at(pointer)));
}
CuResult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned) {
  return allocate(pointer, bytes);
}
CuResult cuMemFreeHost(void* pointer) {
  return release(pointer);
}
CuResult cuMemHostGetDevicePointer_v2(CuPointer* pointer, void* host, unsigned) {
  *pointer = reinterpret_cast<CuPointer>(host);
  return 0;
}
CuResult cuMemcpyHtoDAsync_v2(CuPointer to, const void* from, std::size_t bytes, CuStream) {
  std::memcpy(at(to), from, bytes);
  return count("copies");
}
CuResult cuMemcpyDtoHAsync_v2(void* to, CuPointer from, std::size_t bytes, CuStream) {
  std::memcpy(to, at(from), bytes);
  return count("copies");
}
CuResult cuMemsetD8Async(CuPointer to, unsigned char value, std::size_t bytes, CuStream) {
  std::memset(at(to), value, bytes);
  return count("fills");
}
CuResult cuStreamCreate(CuStream* stream, unsigned) {
  auto* made = new Stream;
  made->number = ++state().streams;
  *stream = reinterpret_cast<CuStream>(made);
  return 0;
}
CuResult cuStreamDestroy_v2(CuStream stream) {
  delete stream_of(stream);
  return 0;
}
CuResult cuStreamSynchronize(CuStream) {
  return count("cuStreamSynchronize");
}
CuResult cuStreamGetId(CuStream stream, unsigned long long* number) {
  *number = stream == nullptr ? 1 : stream_of(stream)->number;
  return 0;
}
CuResult cuStreamGetCaptureInfo_v2(CuStream stream, int* status, std::uint64_t* number, CuGraph*, const void**,
                                   std::size_t*) {
  const std::uint64_t capture = stream == nullptr ? 0 : stream_of(stream)->capture;
  *status = capture != 0 ? 1 : 0;
  *number = capture;
  return 0;
}
CuResult cuStreamBeginCapture_v2(CuStream stream, int) {
  stream_of(stream)->capture = ++state().captures;
  stream_of(stream)->graph = new Graph;
  ++state().capturing;
  return 0;
}
CuResult cuStreamEndCapture(CuStream stream, CuGraph* graph) {
  *graph = reinterpret_cast<CuGraph>(std::exchange(stream_of(stream)->graph, nullptr));
  stream_of(stream)->capture = 0;
  --state().capturing;
  return 0;
}
CuResult cuGraphInstantiateWithFlags(CuGraphExec* exec, CuGraph graph, unsigned long long) {
  *exec = reinterpret_cast<CuGraphExec>(new Graph(*reinterpret_cast<Graph*>(graph)));
  return 0;
}
CuResult cuGraphLaunch(CuGraphExec exec, CuStream) {
  for (const std::function<int()>& node : reinterpret_cast<Graph*>(exec)->nodes)
    if (const int result = node(); result != 0) return result;
  return count("cuGraphLaunch");
}
CuResult cuGraphExecDestroy(CuGraphExec exec) {
  delete reinterpret_cast<Graph*>(exec);
  return 0;
}
CuResult cuGraphDestroy(CuGraph graph) {
  delete reinterpret_cast<Graph*>(graph);
  return 0;
}
CuResult cuEventCreate(CuEvent*, unsigned) {
  return 0;
}
CuResult cuEventDestroy_v2(CuEvent) {
  return 0;
}
CuResult cuEventRecord(CuEvent, CuStream) {
  return count("cuEventRecord");
}
CuResult cuEventSynchronize(CuEvent) {
  return 0;
}
CuResult cuEventElapsedTime(float* milliseconds, CuEvent, CuEvent) {
  *milliseconds = 1;
  return 0;
}
CuResult cuLaunchKernelEx(const CuLaunchConfig* config, CuFunction, void** parameters, void**) {
  const std::scoped_lock lock(state().mutex);
  if (state().contexts.empty()) return kInvalidContext;
  count("cuLaunchKernelEx");
  for (unsigned i = 0; i < config->attribute_count; ++i)
    if (config->attributes[i].id == 2 && config->attributes[i].value.cooperative == 1) count("cooperative launches");
  if (const auto result = static_cast<CuResult>(setting("launch_result")); result != 0) return result;
  const std::int64_t first = setting("emulate_first");
  if (setting("emulate") == 0 || (first > 0 && state().counts["cuLaunchKernelEx"] > first)) return 0;
  auto run = [config = *config,
              attributes = std::vector(config->attributes, config->attributes + config->attribute_count),
              copy = *static_cast<const program::LaunchParameters*>(parameters[0])]() mutable {
    config.attributes = attributes.data();
    return emulate(config, &copy);
  };
  Stream* stream = stream_of(config->stream);
  if (stream == nullptr || stream->capture == 0) return run();
  stream->graph->nodes.emplace_back(run);
  return 0;
}
CuResult cuTensorMapEncodeTiled(void* map, int type, unsigned rank, void* address, const std::uint64_t* sizes,
                                const std::uint64_t* strides, const unsigned* box, const unsigned* element_strides, int,
                                int swizzle, int promotion, int) {
  device::TensorMapFields fields{};
  fields.base = reinterpret_cast<std::uint64_t>(address);
  fields.type = static_cast<device::TensorMapType>(type);
  fields.rank = static_cast<std::uint8_t>(rank);
  for (unsigned d = 0; d < rank; ++d) {
    fields.dims_minus_one[d] = static_cast<std::uint32_t>(sizes[d] - 1);
    fields.box[d] = static_cast<std::uint16_t>(box[d]);
    fields.element_strides[d] = static_cast<std::uint8_t>(element_strides[d]);
    if (d > 0) fields.strides[d - 1] = strides[d - 1];
  }
  fields.swizzle = static_cast<device::Swizzle>(swizzle);
  fields.l2_promotion = static_cast<device::L2Promotion>(promotion);
  fields.magic = device::kTensorMapMagic;
  std::memset(map, 0, sizeof(device::TensorMap));
  std::memcpy(map, &fields, sizeof(fields));
  return count("cuTensorMapEncodeTiled", fields.base % 16 == 0 ? 0 : kInvalidValue);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
