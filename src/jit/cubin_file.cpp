#include "jit/cubin_file.hpp"

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/files.hpp"
#include "support/hash.hpp"

namespace megakittens::jit {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 28;

std::string header_of(std::string_view key, std::string_view cubin) {
  return fmt::format("megakittens-cubin 1 {} {} {}\n", key, hash128(cubin).hex(), cubin.size());
}

}  // namespace

std::string pack_cubin(std::string_view key, std::string_view cubin) {
  return header_of(key, cubin).append(cubin);
}

std::optional<std::string> unpack_cubin(std::string_view key, std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view cubin = text.substr(end + 1);
  if (cubin.empty() || text.substr(0, end + 1) != header_of(key, cubin)) return std::nullopt;
  return std::string(cubin);
}

std::optional<std::string> read_cubin(std::string_view key, const std::filesystem::path& path) {
  try {
    return unpack_cubin(key, read_file(path, kMaxBytes));
  } catch (const UserError&) {
    return std::nullopt;
  }
}

}  // namespace megakittens::jit
