// An NVRTC that takes any source and gives some bytes: for tests of the cache. Opened as a driver it lacks everything.
// MK_STAND_IN_NVRTC="13.1" makes it another version, MK_STAND_IN_NVRTC_MS="200" a compilation as slow as that.
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

namespace {

constexpr char kCubin[] = "machine code";
int compilations = 0;

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): NVRTC's names
extern "C" {

int mk_stand_in_compilations() {
  return compilations;
}

const char* nvrtcGetErrorString(int) {
  return "NVRTC_SUCCESS";
}
int nvrtcVersion(int* major, int* minor) {
  *major = 13;
  *minor = 0;
  if (const char* version = std::getenv("MK_STAND_IN_NVRTC")) std::sscanf(version, "%d.%d", major, minor);
  return 0;
}
int nvrtcCreateProgram(void** program, const char*, const char*, int, const char* const*, const char* const*) {
  *program = nullptr;
  return 0;
}
int nvrtcDestroyProgram(void**) {
  return 0;
}
int nvrtcCompileProgram(void*, int, const char* const*) {
  ++compilations;
  if (const char* delay = std::getenv("MK_STAND_IN_NVRTC_MS"))
    std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(delay)));
  return 0;
}
int nvrtcGetCUBINSize(void*, std::size_t* size) {
  *size = sizeof(kCubin);
  return 0;
}
int nvrtcGetCUBIN(void*, char* cubin) {
  std::memcpy(cubin, kCubin, sizeof(kCubin));
  return 0;
}
int nvrtcGetProgramLogSize(void*, std::size_t* size) {
  *size = 1;
  return 0;
}
int nvrtcGetProgramLog(void*, char* log) {
  *log = '\0';
  return 0;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
