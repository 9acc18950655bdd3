// Machine code that NVRTC made, kept in a folder under a key of everything that decides it.
#pragma once

#include <optional>

#include "jit/interpreter.hpp"
#include "jit/sources.hpp"
#include "support/hash.hpp"

namespace megakittens::jit {

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
