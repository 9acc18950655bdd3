// Where on this machine the NVRTC library may lie.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace megakittens::jit {

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

}  // namespace megakittens::jit
