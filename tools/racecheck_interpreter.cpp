// racecheck_interpreter FOLDER [race]: the interpreter for Hopper that racecheck can follow
// (tests/support/racecheck.hpp), or the one with a race that it must report, as the one machine code in FOLDER, unless
// it is there. Needs NVRTC and no GPU. MEGAKITTENS_CACHE_DIR=FOLDER with a MEGAKITTENS_NVRTC that does not exist then
// runs programs on it.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string_view>

#include "support/racecheck.hpp"

int main(int argc, char** argv) {
  using namespace megakittens::test;
  const bool race = argc == 3 && std::string_view(argv[2]) == "race";
  if (argc != 2 && !race) {
    std::fprintf(stderr, "usage: racecheck_interpreter FOLDER [race]\n");
    return 2;
  }
  try {
    const char* kind = race ? "race" : "racecheck";
    const std::vector<SourceEdit> edits = race ? racecheck_edits_and_a_race() : racecheck_edits();
    if (!std::filesystem::exists(edited_cubin_path(argv[1], kind, edits))) compile_edited(argv[1], kind, edits, true);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "[racecheck] %s\n", error.what());
    return 1;
  }
  return 0;
}
