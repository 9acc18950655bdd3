# How everything is compiled: the language, warnings, sanitizers, ccache.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Messages and asserts name files relative to the tree, and two checkouts share one cache.
add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers are cached only when their defines and times may be taken on trust.
  set(CMAKE_CXX_COMPILER_LAUNCHER /usr/bin/env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
                                  CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${CCACHE})
endif()

add_library(mk_warnings INTERFACE)
target_compile_options(mk_warnings INTERFACE -Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
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
