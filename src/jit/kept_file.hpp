// Machine code in a file with what it was made from, and a checksum: cubins that the package ships or the cache keeps,
// and libraries for the emulator. Both stand behind the code's own bytes, which loaders of libraries ignore.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace megakittens::jit {

/// The code's bytes, then a line of text "megakittens-code 1 <key> <checksum> <bytes>".
std::string pack(std::string_view key, std::string_view code);

/// The code, or nothing where the text is damaged or was made for another key.
std::optional<std::string> unpack(std::string_view key, std::string text);

/// The same from a file; nothing where it cannot be read. Loading a damaged library may kill the process.
std::optional<std::string> read_kept(std::string_view key, const std::filesystem::path& path);

}  // namespace megakittens::jit
