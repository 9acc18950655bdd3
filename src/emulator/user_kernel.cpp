// Interpreters with users' instruction types, compiled for the host in libraries of their own.
#include <dlfcn.h>

#include <map>
#include <mutex>

#include "device/host/hook_table.hpp"
#include "emulator/kernels.hpp"
#include "jit/interpreter.hpp"
#include "ops/user/registry.hpp"
#include "support/error.hpp"

namespace megakittens::emulator {
namespace {

using device::host::HookTable;
using device::host::HostKernel;

const HookTable& hooks() {
  static constexpr HookTable kTable{
#define MK_X(result, name, parameters, arguments) .name = &device::host::name,
      MK_HOOKS(MK_X)
#undef MK_X
          .trap = &device::host::trap,
      .lane_depth = [] { return &device::single_lane_depth; }};
  return kTable;
}

/// Null where the file is not such a library.
const HostKernel* open(const std::filesystem::path& path) {
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  auto* get = reinterpret_cast<const HostKernel* (*)()>(::dlsym(library, device::host::kHostKernelName));
  const HostKernel* kernel = get == nullptr ? nullptr : get();
  if (kernel != nullptr && kernel->version == device::host::kHookTableVersion) return kernel;
  ::dlclose(library);
  return nullptr;
}

}  // namespace

KernelInfo kernel_for(const program::Program& program) {
  if (program.types.empty()) return kernel_for(program.config.architecture);
  const std::vector<ops::DeviceHalf> halves = ops::device_halves(program);
  const program::Architecture architecture = program.config.architecture;
  static std::mutex mutex;
  static std::map<std::filesystem::path, const HostKernel*> loaded;
  std::filesystem::path path = jit::host_interpreter(architecture, halves);
  std::scoped_lock lock(mutex);
  const HostKernel*& kernel = loaded[path];
  if (kernel == nullptr) kernel = open(path);
  if (kernel == nullptr) kernel = open(jit::host_interpreter(architecture, halves, true));
  if (kernel == nullptr) {
    const char* why = ::dlerror();
    throw UserError(fmt::format("'{}', an interpreter compiled for the emulator, cannot be loaded: {}", path.string(),
                                why == nullptr ? "it is another version's" : why));
  }
  kernel->bind(&hooks());
  return {.kernel = kernel->kernel, .warps = kernel->warps, .shared_bytes = kernel->shared_bytes};
}

}  // namespace megakittens::emulator
