# How everything is compiled: the language, warnings, sanitizers, ccache.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# With -O3 GCC 12 reports false positives in inlined code of precompiled headers, and compiles longer.
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

# Messages and asserts name files relative to the tree, and two checkouts share one cache.
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers are cached only when their defines and times may be taken on trust.
  set(CMAKE_CXX_COMPILER_LAUNCHER /usr/bin/env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
                                  CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${CCACHE})
endif()

add_library(mk_warnings INTERFACE)
# Members that a designated initialiser leaves out have defaults. GCC 12 reports std::string out of its bounds in -O2.
target_compile_options(mk_warnings INTERFACE -Wall -Wextra -Wpedantic -Wno-missing-field-initializers -Wno-array-bounds
                                                -Wno-stringop-overflow)
if(MK_WERROR)
  target_compile_options(mk_warnings INTERFACE -Werror)
endif()
if(MK_SANITIZE)
  add_compile_options(-fsanitize=${MK_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${MK_SANITIZE})
  # GCC 12 reports false positives for these once a sanitizer has rewritten the code.
  target_compile_options(mk_warnings INTERFACE -Wno-maybe-uninitialized -Wno-array-bounds
                                               -Wno-stringop-overflow -Wno-tsan)
endif()

if(MK_CLANG_TIDY)
  find_program(MK_CLANG_TIDY_PROGRAM clang-tidy HINTS ${PROJECT_SOURCE_DIR}/.venv/bin NO_DEFAULT_PATH REQUIRED)
endif()

# Compiles the headers that most sources include once. The sets: `components`, `tests` (with GoogleTest), `program` (an
# executable has other flags than a library), `python`; the first target of a set compiles it, the others of the set use it.
# clang-tidy runs without them, so that it reports a missing include.
function(mk_precompile_headers target set)
  if(NOT MK_PCH OR MK_CLANG_TIDY)
    return()
  endif()
  target_compile_options(${target} PRIVATE -fpch-preprocess)  # ccache needs it
  get_property(owner GLOBAL PROPERTY MK_PCH_OWNER_${set})
  if(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
  else()
    target_precompile_headers(
      ${target} PRIVATE <algorithm> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <numeric> <optional> <span>
      <string> <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h> <fmt/ranges.h> ${ARGN})
    set_property(GLOBAL PROPERTY MK_PCH_OWNER_${set} ${target})
  endif()
endfunction()
