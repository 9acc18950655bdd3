// A cubin in a file with what it was made from, and a checksum: what the package ships and what the cache keeps.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace megakittens::jit {

/// A line of text "megakittens-cubin 1 <key> <checksum> <bytes>", then the cubin's bytes.
std::string pack_cubin(std::string_view key, std::string_view cubin);

/// The cubin, or nothing where the text is damaged or was made for another key.
std::optional<std::string> unpack_cubin(std::string_view key, std::string_view text);

/// The same from a file; nothing where it cannot be read.
std::optional<std::string> read_cubin(std::string_view key, const std::filesystem::path& path);

}  // namespace megakittens::jit
