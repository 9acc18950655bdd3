#include "jit/sources.hpp"

#include "support/error.hpp"
#include "support/hash.hpp"

namespace megakittens::jit {

std::string_view embedded_source(std::string_view path) {
  for (const EmbeddedSource& source : embedded_sources())
    if (source.path == path) return source.text;
  MK_CHECK(false, "no source '{}' is part of the library", path);
  return {};
}

const std::string& sources_hash() {
  static const std::string hash = [] {
    Hasher hasher;
    for (const EmbeddedSource& source : embedded_sources()) hasher.add(source.path).add(source.text);
    return hasher.digest().hex();
  }();
  return hash;
}

const std::string& host_sources_hash() {
  static const std::string hash = [] {
    Hasher hasher;
    hasher.add(sources_hash());
    for (const EmbeddedSource& source : embedded_host_sources()) hasher.add(source.path).add(source.text);
    return hasher.digest().hex();
  }();
  return hash;
}

}  // namespace megakittens::jit
