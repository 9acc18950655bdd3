#include "support/printable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace megakittens {

namespace {

/// The character that `text` begins with, and of how many bytes it is; of none where they are no UTF-8 (RFC 3629).
struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;
};

Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t bytes = byte(0) < 0x80 ? 1 : byte(0) < 0xc2 ? 0 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (bytes == 0 || byte(0) > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = bytes == 1 ? byte(0) : byte(0) & (0x7fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool half = code >= 0xd800 && code < 0xe000;  // of a pair in UTF-16
  return code < kLeast[bytes] || half || code > 0x10ffff ? Character{} : Character{code, bytes};
}

std::string escaped(std::string_view text, std::string_view before) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Character first = first_of(text);
    const std::uint32_t code = first.bytes == 0 ? static_cast<unsigned char>(text[0]) : first.code;
    const std::size_t bytes = std::max<std::size_t>(first.bytes, 1);
    const bool control = (code < ' ' && code != '\n' && code != '\t') || (code >= 0x7f && code < 0xa0);
    if (first.bytes == 0 || control)
      shown += fmt::format("{}{:02x}", before, code);
    else
      shown += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return shown;
}

}  // namespace

std::string printable(std::string_view text) {
  return escaped(text, "\\x");
}

std::string printable_json(std::string_view json) {
  return escaped(json, "\\u00");
}

}  // namespace megakittens
