// Every device header compiles alone with NVRTC. Which machines a header is for is in its path: host/ for the host
// only, sm90/ and sm100/ for one architecture, everything else for both. The host's half of this rule is
// cmake/header_checks.cmake, which compiles each header for the host while the tests are built.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "jit/compile.hpp"
#include "support/nvrtc.hpp"

namespace megakittens::jit {
namespace {

namespace fs = std::filesystem;

bool has_part(const fs::path& path, const char* part) {
  return std::find(path.begin(), path.end(), part) != path.end();
}

// Paths relative to src/: all .cuh, and the plain headers of device/.
std::vector<fs::path> headers_for(Architecture architecture) {
  const fs::path root = MK_SOURCE_DIR "/src";
  const char* other = &program::target_of(architecture).family == &program::kHopper ? program::kBlackwell.sources
                                                                                    : program::kHopper.sources;
  std::vector<fs::path> headers;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root)) {
    const fs::path path = entry.path().lexically_relative(root);
    const bool device = path.extension() == ".cuh" || (path.extension() == ".hpp" && *path.begin() == "device");
    if (device && !has_part(path, "host") && !has_part(path, other)) headers.push_back(path);
  }
  std::sort(headers.begin(), headers.end());
  return headers;
}

void compile_each_alone(Architecture architecture) {
  const std::vector<fs::path> headers = headers_for(architecture);
  EXPECT_GT(headers.size(), 20u);
  for (const fs::path& header : headers) {
    CompileRequest request;
    request.name = header.string() + " alone";
    request.source = "#include \"" + header.string() + "\"\n";
    request.architecture = architecture;
    request.include_folders = {MK_SOURCE_DIR "/src"};
    try {
      const CompileResult result = compile(request);
      EXPECT_EQ(result.log.find("warning"), std::string::npos) << header << ": " << result.log;
    } catch (const CompileError& error) {
      ADD_FAILURE() << error.what();
    }
  }
}

TEST(Headers, each_compiles_alone_for_hopper) {
  MK_NEEDS_NVRTC();
  compile_each_alone(Architecture::sm_90a);
}

TEST(Headers, each_compiles_alone_for_blackwell) {
  MK_NEEDS_NVRTC();
  compile_each_alone(Architecture::sm_100a);
}

}  // namespace
}  // namespace megakittens::jit
