// racecheck_interpreter FOLDER: the interpreter for Hopper that racecheck can follow (tests/support/racecheck.hpp), as
// the one machine code in FOLDER, unless it is there. Needs NVRTC and no GPU. MEGAKITTENS_CACHE_DIR=FOLDER with a
// MEGAKITTENS_NVRTC that does not exist then runs programs on it.
#include <cstdio>
#include <exception>
#include <filesystem>

#include "support/racecheck.hpp"

int main(int argc, char** argv) {
  using namespace megakittens::test;
  constexpr const char* kKind = "racecheck";
  if (argc != 2) {
    std::fprintf(stderr, "usage: racecheck_interpreter FOLDER\n");
    return 2;
  }
  try {
    if (!std::filesystem::exists(edited_cubin_path(argv[1], kKind, racecheck_edits())))
      compile_edited(argv[1], kKind, racecheck_edits(), true);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "[racecheck] %s\n", error.what());
    return 1;
  }
  return 0;
}
