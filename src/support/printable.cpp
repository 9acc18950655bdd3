#include "support/printable.hpp"

#include <fmt/format.h>

namespace megakittens {

namespace {

std::string escaped(std::string_view text, std::string_view before) {
  constexpr unsigned char kDelete = 0x7f;
  constexpr unsigned char kUpperHalf = 0xc2;  // first byte of U+0080 to U+00BF
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const unsigned char next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : '\0';
    if ((byte < ' ' && byte != '\n' && byte != '\t') || byte == kDelete) {
      shown += fmt::format("{}{:02x}", before, byte);
    } else if (byte == kUpperHalf && next >= 0x80 && next < 0xa0) {
      shown += fmt::format("{}{:02x}", before, next);
      ++i;
    } else {
      shown += text[i];
    }
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
