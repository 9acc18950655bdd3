#include "runtime/driver.hpp"

#include <dlfcn.h>

#include "support/error.hpp"
#include "support/options.hpp"

namespace megakittens::runtime {
namespace {

constexpr CuResult kOutOfMemory = 2;

Driver open_driver() {
  const std::string given = text_option(Knob::cuda_driver);
  const std::string name = given.empty() ? "libcuda.so.1" : given;
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr)
    throw UserError(
        fmt::format("no CUDA driver: {} cannot be opened. Install the NVIDIA driver, or run on the emulator", name));
  Driver driver;
  auto find = [&](const char* symbol) {
    void* address = dlsym(library, symbol);
    if (address == nullptr)
      throw UserError(fmt::format("the CUDA driver is too old: it lacks {}. Driver 550 or newer is needed", symbol));
    return address;
  };
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define MK_X(symbol, name, parameters) driver.name = reinterpret_cast<CuResult(*) parameters>(find(#symbol));
  MK_DRIVER_FUNCTIONS(MK_X)
#undef MK_X
  CuResult result = driver.init(0);
  if (result != 0) {
    const char* text = nullptr;
    driver.get_error_string(result, &text);
    throw UserError(fmt::format("the CUDA driver does not start: {} (error {})", text ? text : "unknown", result));
  }
  return driver;
}

}  // namespace

const Driver& driver() {
  static const Driver opened = open_driver();
  return opened;
}

void check(CuResult result, const char* call) {
  if (result == 0) return;
  const char* text = nullptr;
  driver().get_error_string(result, &text);
  if (result == kOutOfMemory)
    throw CapacityError(fmt::format("the GPU is out of memory: {} failed ({})", call, text ? text : "unknown"));
  throw ExecutionError(fmt::format("CUDA driver: {} failed: {} (error {})", call, text ? text : "unknown", result));
}

}  // namespace megakittens::runtime
