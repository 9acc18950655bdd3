#include "jit/kept_file.hpp"

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/files.hpp"
#include "support/hash.hpp"

namespace megakittens::jit {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 28;
constexpr std::string_view kMark = "\nmegakittens-code 1 ";

std::string trailer_of(std::string_view key, std::string_view code) {
  return fmt::format("{}{} {} {}\n", kMark, key, hash128(code).hex(), code.size());
}

}  // namespace

std::string pack(std::string_view key, std::string_view code) {
  return std::string(code).append(trailer_of(key, code));
}

std::optional<std::string> unpack(std::string_view key, std::string text) {
  const std::size_t size = text.rfind(kMark);
  if (size == std::string::npos || size == 0) return std::nullopt;
  const std::string trailer = text.substr(size);
  text.resize(size);
  if (trailer != trailer_of(key, text)) return std::nullopt;
  return text;
}

std::optional<std::string> read_kept(std::string_view key, const std::filesystem::path& path) {
  try {
    return unpack(key, read_file(path, kMaxBytes));
  } catch (const UserError&) {
    return std::nullopt;
  }
}

}  // namespace megakittens::jit
