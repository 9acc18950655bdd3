// The kernels of a group of twin tests for a Hopper GPU.
#pragma once

#include "jit/compile.hpp"
#include "support/twins/cases.hpp"

namespace megakittens::test {

inline jit::CompileRequest twin_request(const TwinGroup& group) {
  jit::CompileRequest request;
  request.name = group.name + "_twins.cu";
  request.source = "#include \"" + group.source + "\"\n";
  request.include_folders = {MK_SOURCE_DIR "/tests"};
  request.embedded_headers = true;
  return request;
}

}  // namespace megakittens::test
