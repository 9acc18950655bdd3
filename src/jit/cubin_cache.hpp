// Machine code in files, under a key of everything that decides it, with a checksum: cubins that the package ships or
// the cache keeps, and libraries for the emulator.
#pragma once

#include <optional>

#include "jit/interpreter.hpp"
#include "jit/sources.hpp"
#include "support/hash.hpp"

namespace megakittens::jit {

/// The code's bytes, then a line of text "megakittens-code 1 <key> <checksum> <bytes>".
std::string pack(std::string_view key, std::string_view code);

/// The code, or nothing where the text is damaged or was made for another key.
std::optional<std::string> unpack(std::string_view key, std::string text);

/// The same from a file; nothing where it cannot be read. Loading a damaged library may kill the process.
std::optional<std::string> read_kept(std::string_view key, const std::filesystem::path& path);

/// Of everything but the compiler that decides what a request compiles to: our version, the architecture, the source,
/// `carried` (sources_hash(), for the carried headers), and the options. Files in include_folders are the caller's to
/// add.
Hasher key_of_request(const CompileRequest& request, std::string_view carried = sources_hash());

/// The cubin of a file, if it is there and whole; warns where it is damaged.
std::optional<std::string> find_cubin(const std::filesystem::path& path, const std::string& key);

/// From this process, the cache folder, or NVRTC, and then kept. `stem` is a word and a key, "interpreter-<key>", that
/// decides the request; `what` names it in messages: "interpreter". Safe from several threads and processes; a cache
/// that fails costs a compilation and a warning. Throws as compile() does.
InterpreterCubin cached_cubin(const std::string& stem, std::string_view what, const CompileRequest& request);

/// Logs a warning about the cache: each sentence once a process.
void warn_once(const std::string& text);

}  // namespace megakittens::jit
