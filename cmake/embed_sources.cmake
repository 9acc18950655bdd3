# cmake -DROOT=<src> -DOUTPUT=<file.cpp> -P embed_sources.cmake: the interpreter's sources and every header that they
# reach, as C++ tables, so that the library compiles kernels without its source tree. The first table is the GPU's side; the
# second what the host's twins need besides.
cmake_minimum_required(VERSION 3.25)
set(seen "")

# Appends to `entries` the files that `roots` reach by includes whose names do not match `left_out`, each once in all.
function(collect roots left_out)
  set(open ${roots})
  list(REMOVE_ITEM open ${seen} "")
  list(APPEND seen ${open})
  set(entries "")
  while(open)
    list(POP_FRONT open file)
    file(READ ${ROOT}/${file} text)
    string(APPEND entries "    {\"${file}\", R\"~mk~(${text})~mk~\"},\n")
    file(STRINGS ${ROOT}/${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[^\"]*\"([^\"]+)\".*" "\\1" header "${line}")
      if(header MATCHES "${left_out}" OR header IN_LIST seen)
        continue()
      endif()
      list(APPEND seen ${header})
      list(APPEND open ${header})
    endforeach()
  endwhile()
  set(seen "${seen}" PARENT_SCOPE)
  set(entries "${entries}" PARENT_SCOPE)
endfunction()

# The twins of the host are the other side of a condition.
# direct.cuh: for users' device halves, which include it.
file(GLOB sets RELATIVE ${ROOT} ${ROOT}/ops/*/set.cuh)
collect("interpreter/kernel.cuh;${sets};ops/user/direct.cuh" "(^|/)host/")
set(gpu_entries "${entries}")
# Headers of the first table open these by name under the host's branch.
collect("device/host/hook_forwards.hpp;device/host/ptx/all.cuh;device/host/annotate.cuh;device/core/host/lanes.cuh;device/core/host/warp.cuh;device/core/host/math.cuh;device/core/host/float16.cuh" "(^|/)gpu/|^device/ptx/")
set(content "// Made by cmake/embed_sources.cmake.
#include \"jit/sources.hpp\"

namespace megakittens::jit {

std::span<const EmbeddedSource> embedded_sources() {
  static constexpr EmbeddedSource kSources[] = {
${gpu_entries}  };
  return kSources;
}

std::span<const EmbeddedSource> embedded_host_sources() {
  static constexpr EmbeddedSource kSources[] = {
${entries}  };
  return kSources;
}

}  // namespace megakittens::jit
")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "@content@" @ONLY)
