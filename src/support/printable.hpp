// Untrusted text made safe to show on a terminal.
#pragma once

#include <string>
#include <string_view>

namespace megakittens {

/// Control characters, but line feeds and tabs, as "\x1b": those of ASCII, and U+0080 to U+009F in UTF-8; and bytes
/// that are not UTF-8.
std::string printable(std::string_view text);
/// The same as "\u001b": for JSON, where they can only stand in strings.
std::string printable_json(std::string_view json);

}  // namespace megakittens
