// The NVRTC library, opened at run time so that everything but compiling works without it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace megakittens::jit {

/// NVRTC's own program handle. The functions below have the signatures of nvrtc.h; results are its nvrtcResult.
using NvrtcProgram = struct NvrtcProgramHandle*;

struct Nvrtc {
  int major = 0;
  int minor = 0;
  std::string path;  ///< as opened

  const char* (*get_error_string)(int result) = nullptr;
  int (*version)(int* major, int* minor) = nullptr;
  int (*create_program)(NvrtcProgram* program, const char* source, const char* name, int header_count,
                        const char* const* headers, const char* const* include_names) = nullptr;
  int (*destroy_program)(NvrtcProgram* program) = nullptr;
  int (*compile_program)(NvrtcProgram program, int option_count, const char* const* options) = nullptr;
  int (*get_cubin_size)(NvrtcProgram program, size_t* size) = nullptr;
  int (*get_cubin)(NvrtcProgram program, char* cubin) = nullptr;
  int (*get_program_log_size)(NvrtcProgram program, size_t* size) = nullptr;
  int (*get_program_log)(NvrtcProgram program, char* log) = nullptr;
};

/// Places to try, best first. `reason` says in a user's words why a place is on the list.
struct Candidate {
  std::filesystem::path library;
  std::string reason;
};

/// In this order: MEGAKITTENS_NVRTC alone if it is set; CUDA_HOME, CUDA_PATH, /usr/local/cuda; the PyPI packages of the
/// active virtual environment; of a .venv, site-packages or dist-packages above the working folder or above this
/// program, the nearest first; the loader's path. Among packages NVIDIA's own come before PyTorch's folder. Paths with
/// a folder exist when this returns; bare names are for the loader.
std::vector<Candidate> nvrtc_candidates();

/// Opens the first library of nvrtc_candidates() that is new enough. Throws UserError with every place that was tried
/// and what was wrong there. Never closed: the driver may keep pointers into what it made.
Nvrtc open_nvrtc();

/// The process's library, opened by the first call; safe from several threads. A failure is not remembered.
const Nvrtc& nvrtc();

}  // namespace megakittens::jit
