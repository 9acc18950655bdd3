// The interpreter's device sources, carried inside the library: an installed package has no source tree.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace megakittens::jit {

/// `path` is how includes name the file: from the folder that holds device/.
struct EmbeddedSource {
  std::string_view path;
  std::string_view text;
};

/// The interpreter, every instruction set, and every header that they reach when a GPU's compiler reads them.
std::span<const EmbeddedSource> embedded_sources();

/// What the host's compiler needs besides: the twins, and "device/host/hook_forwards.hpp".
std::span<const EmbeddedSource> embedded_host_sources();

/// The text of one of them. Throws InternalError where there is none of that name.
std::string_view embedded_source(std::string_view path);

/// 32 digits that change when any of them does.
const std::string& sources_hash();
/// The same for both tables.
const std::string& host_sources_hash();

}  // namespace megakittens::jit
