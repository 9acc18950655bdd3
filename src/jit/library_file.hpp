// A compiled library in a file with what it was made from, and a checksum, behind its own bytes: loaders ignore those.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace megakittens::jit {

/// The library's bytes, then a line of text "megakittens-library 1 <key> <checksum> <bytes>".
std::string pack_library(std::string_view key, std::string_view library);

/// Whether the file is there, whole, and made for that key. Loading one that is not may kill the process.
bool is_whole_library(std::string_view key, const std::filesystem::path& path);

}  // namespace megakittens::jit
