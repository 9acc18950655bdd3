#include "runtime/driver.hpp"

#include <dlfcn.h>

#include "support/error.hpp"

namespace megakittens::runtime {
namespace {

Driver open_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr)
    throw UserError("no CUDA driver: libcuda.so.1 cannot be opened. Install the NVIDIA driver, or run on the emulator");
  Driver driver;
  auto find = [&](const char* symbol) {
    void* address = dlsym(library, symbol);
    if (address == nullptr)
      throw UserError(fmt::format("the CUDA driver is too old: it lacks {}. Driver 550 or newer is needed", symbol));
    return address;
  };
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
  throw ExecutionError(fmt::format("CUDA driver: {} failed: {} (error {})", call, text ? text : "unknown", result));
}

}  // namespace megakittens::runtime
