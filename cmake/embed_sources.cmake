# cmake -DROOT=<src> -DOUTPUT=<file.cpp> -P embed_sources.cmake: the interpreter's sources and every header that they
# reach on the GPU's side, as one C++ table, so that the library compiles kernels without its source tree.
cmake_minimum_required(VERSION 3.25)
set(open interpreter/sm90.cu interpreter/sm100.cu)
set(seen ${open})
set(entries "")
while(open)
  list(POP_FRONT open file)
  file(READ ${ROOT}/${file} text)
  string(APPEND entries "    {\"${file}\", R\"~mk~(${text})~mk~\"},\n")
  file(STRINGS ${ROOT}/${file} lines REGEX "^[ \t]*#[ \t]*include[ \t]*\"")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[^\"]*\"([^\"]+)\".*" "\\1" header "${line}")
    # The twins of the host are the other side of a condition.
    if(header MATCHES "(^|/)host/" OR header IN_LIST seen)
      continue()
    endif()
    list(APPEND seen ${header})
    list(APPEND open ${header})
  endforeach()
endwhile()
set(content "// Made by cmake/embed_sources.cmake.
#include \"jit/sources.hpp\"

namespace megakittens::jit {

std::span<const EmbeddedSource> embedded_sources() {
  static constexpr EmbeddedSource kSources[] = {
${entries}  };
  return kSources;
}

}  // namespace megakittens::jit
")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "@content@" @ONLY)
