#include "runtime/cuda_device.hpp"

#include <map>

#include "emulator/kernels.hpp"
#include "jit/interpreter.hpp"
#include "ops/user/registry.hpp"
#include "support/error.hpp"
#include "support/log.hpp"

namespace megakittens::runtime {
namespace {

// CUdevice_attribute
constexpr int kClockRate = 13;  // kHz
constexpr int kMultiprocessors = 16;
constexpr int kMajor = 75;
constexpr int kMinor = 76;
constexpr unsigned kNonBlocking = 1;       // CU_STREAM_NON_BLOCKING
constexpr int kMaxDynamicSharedBytes = 8;  // CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
constexpr std::uint64_t kUsualClock = 2'000'000;

// What the driver says of machine code that it does not know: INVALID_IMAGE, NO_BINARY_FOR_GPU, INVALID_PTX,
// UNSUPPORTED_PTX_VERSION, INVALID_SOURCE.
bool is_unknown_code(CuResult result) {
  return result == 200 || result == 209 || result == 218 || result == 222 || result == 300;
}

int attribute(CuDevice device, int which) {
  int value = 0;
  MK_CUDA(device_get_attribute(&value, which, device));
  return value;
}

void load(LoadedInterpreter& loaded, program::Architecture architecture, jit::Halves users, const std::string& gpu) {
  const jit::InterpreterCubin cubin = jit::interpreter_cubin(architecture, users);
  CuModule module = nullptr;
  const CuResult result = driver().module_load_data(&module, cubin.bytes.data());
  if (is_unknown_code(result)) {
    int version = 0;
    MK_CUDA(driver_get_version(&version));
    throw UserError(fmt::format(
        "the driver of '{}' (CUDA {}.{}) is too old for the interpreter, which is {}{}: update the driver, or let "
        "MEGAKITTENS_NVRTC name a compiler of the driver's version",
        gpu, version / 1000, version % 1000 / 10, cubin.origin, cubin.compiler.empty() ? "" : " by " + cubin.compiler));
  }
  check(result, "module_load_data");
  MK_CUDA(module_get_function(&loaded.function, module, jit::interpreter_entry(architecture).c_str()));
  MK_CUDA(func_set_attribute(loaded.function, kMaxDynamicSharedBytes, static_cast<int>(loaded.shared_bytes)));
  log(LogLevel::info, "runtime", "loaded the {} interpreter for {} on '{}'", cubin.origin,
      program::name_of(architecture), gpu);
}

}  // namespace

int CudaDevice::count() {
  int count = 0;
  MK_CUDA(device_get_count(&count));
  return count;
}

CudaDevice& CudaDevice::get(int ordinal) {
  static std::mutex mutex;
  // Never destroyed: the driver may be gone before statics are.
  static auto* devices = new std::map<int, std::unique_ptr<CudaDevice>>;
  std::scoped_lock lock(mutex);
  std::unique_ptr<CudaDevice>& device = (*devices)[ordinal];
  if (!device) device.reset(new CudaDevice(ordinal));
  return *device;
}

CudaDevice::CudaDevice(int ordinal) : ordinal_(ordinal) {
  const int devices = count();
  if (ordinal < 0 || ordinal >= devices)
    throw UserError(devices == 0 ? "the CUDA driver shows no GPU"
                                 : fmt::format("there is no GPU {}: the driver shows {}", ordinal, devices));
  MK_CUDA(device_get(&device_, ordinal));
  char text[256] = "";
  MK_CUDA(device_get_name(text, sizeof(text), device_));
  name_ = text;
  const int major = attribute(device_, kMajor);
  const int minor = attribute(device_, kMinor);
  const program::Target* target = program::target_of_gpu(major, minor);
  if (target == nullptr)
    throw UserError(fmt::format("GPU {} '{}' has compute capability {}.{}; programs are made for {}", ordinal, name_,
                                major, minor, program::target_names()));
  architecture_ = target->architecture;
  sms_ = static_cast<std::uint32_t>(attribute(device_, kMultiprocessors));
  const int clock = attribute(device_, kClockRate);
  clocks_per_millisecond_ = clock > 0 ? static_cast<std::uint64_t>(clock) : kUsualClock;
  RelaxedCapture relaxed;
  MK_CUDA(device_primary_ctx_retain(&context_, device_));
  ContextScope scope(context_);
  MK_CUDA(stream_create(&stream_, kNonBlocking));
}

const LoadedInterpreter& CudaDevice::interpreter(const program::Program& program) {
  const std::vector<ops::DeviceHalf> users = ops::device_halves(program);
  std::string key;
  for (const ops::DeviceHalf& half : users) key += fmt::format("{} {} ", half.icode, half.hash);
  std::scoped_lock lock(mutex_);
  std::unique_ptr<LoadedInterpreter>& interpreter = interpreters_[key];
  if (!interpreter) {
    RelaxedCapture relaxed;
    ContextScope scope(context_);
    auto loaded = std::make_unique<LoadedInterpreter>();
    loaded->threads = program::target_of(architecture_).family.warps * 32;
    loaded->shared_bytes = emulator::kernel_for(architecture_).shared_bytes;  // as large as the GPU's
    load(*loaded, architecture_, users, name_);
    interpreter = std::move(loaded);
  }
  return *interpreter;
}

void CudaDevice::upload(CuPointer to, const void* from, std::size_t bytes) const {
  if (bytes == 0) return;
  MK_CUDA(memcpy_host_to_device_async(to, from, bytes, stream_));
  MK_CUDA(stream_synchronize(stream_));
}

void CudaDevice::download(void* to, CuPointer from, std::size_t bytes) const {
  if (bytes == 0) return;
  MK_CUDA(memcpy_device_to_host_async(to, from, bytes, stream_));
  MK_CUDA(stream_synchronize(stream_));
}

void CudaDevice::fill(CuPointer to, unsigned char value, std::size_t bytes) const {
  if (bytes == 0) return;
  MK_CUDA(memset_d8_async(to, value, bytes, stream_));
  MK_CUDA(stream_synchronize(stream_));
}

}  // namespace megakittens::runtime
