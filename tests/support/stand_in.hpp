// The stand-ins for CUDA (tests/stand_in), for tests that run without it. For processes that open no real driver.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "support/error.hpp"

namespace megakittens::test {

/// The driver that this process opens, or has opened.
class StandInDriver {
 public:
  StandInDriver() {
    ::setenv("MEGAKITTENS_CUDA_DRIVER", MK_STAND_IN_DRIVER, 1);
    ::setenv("MEGAKITTENS_NVRTC", MK_STAND_IN_COMPILER, 1);
    library_ = ::dlopen(MK_STAND_IN_DRIVER, RTLD_NOW | RTLD_GLOBAL);
    MK_CHECK(library_ != nullptr, "{}", ::dlerror());
  }
  /// Names: tests/stand_in/state.hpp.
  void set(const char* name, std::int64_t value) const {
    function<void(const char*, std::int64_t)>("set")(name, value);
  }
  std::int64_t count(const char* name) const { return function<std::int64_t(const char*)>("count")(name); }
  std::string report() const { return function<const char*()>("report")(); }

 private:
  template <class F>
  F* function(const char* name) const {
    return reinterpret_cast<F*>(::dlsym(library_, (std::string("mk_stand_in_") + name).c_str()));
  }
  void* library_ = nullptr;
};

}  // namespace megakittens::test
