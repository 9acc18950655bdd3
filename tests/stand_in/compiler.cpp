// An NVRTC that takes any source and gives some bytes: for tests of the cache. Opened as a driver it lacks everything.
#include <cstddef>
#include <cstring>

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
