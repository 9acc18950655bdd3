#include "jit/library_file.hpp"

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/files.hpp"
#include "support/hash.hpp"

namespace megakittens::jit {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 28;

std::string trailer_of(std::string_view key, std::string_view library) {
  return fmt::format("\nmegakittens-library 1 {} {} {}\n", key, hash128(library).hex(), library.size());
}

}  // namespace

std::string pack_library(std::string_view key, std::string_view library) {
  return std::string(library).append(trailer_of(key, library));
}

bool is_whole_library(std::string_view key, const std::filesystem::path& path) {
  std::string text;
  try {
    text = read_file(path, kMaxBytes);
  } catch (const UserError&) {
    return false;
  }
  const std::size_t start = text.rfind("\nmegakittens-library ");
  if (start == std::string::npos || start == 0) return false;
  const std::string_view library = std::string_view(text).substr(0, start);
  return std::string_view(text).substr(start) == trailer_of(key, library);
}

}  // namespace megakittens::jit
