// Tests that compile kernels skip where NVRTC is missing; CTest counts and lists them. With
// MEGAKITTENS_REQUIRE_NVRTC set (machines that must have everything) they fail instead.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "jit/nvrtc.hpp"
#include "support/error.hpp"
#include "support/options.hpp"

namespace megakittens {

/// Why there is no NVRTC, or nothing.
inline std::optional<std::string> nvrtc_fault() {
  try {
    jit::nvrtc();
    return std::nullopt;
  } catch (const UserError& error) {
    return error.what();
  }
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  if (!file) ADD_FAILURE() << "cannot read " << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace megakittens

/// First line of a test body.
#define MK_NEEDS_NVRTC()                                                                         \
  if (const std::optional<std::string> fault = ::megakittens::nvrtc_fault(); fault) {            \
    if (::megakittens::flag_option(::megakittens::Knob::require_nvrtc)) FAIL() << "needs NVRTC: " << *fault; \
    GTEST_SKIP() << "needs NVRTC: " << *fault;                                                   \
  }                                                                                              \
  static_assert(true)
