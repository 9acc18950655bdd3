// A hash that is the same on every machine and in every version: for cache keys and file checksums, not against attack.
#pragma once

#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace megakittens {

struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
  /// 32 lower-case hexadecimal digits, the high word first.
  std::string hex() const;
};

/// MurmurHash3 (x64, 128 bits, seed 0) over the bytes added so far. Sizes and texts are distinguished: add("ab"),
/// add("c") differs from add("a"), add("bc"); add_bytes alone does not mark where one call ends.
class Hasher {
 public:
  Hasher& add_bytes(std::span<const std::byte> bytes);
  /// The text's length as 64 bits, then its bytes.
  Hasher& add(std::string_view text);
  /// Integers as 64 bits with sign extension, little-endian, so that the width of a field may change.
  template <std::integral Integer>
  Hasher& add(Integer value) {
    return add_word(static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
  }
  /// The hash of everything so far; more may be added after it.
  Hash128 digest() const;

 private:
  Hasher& add_word(std::uint64_t word);
  void mix(const std::byte* block);

  Hash128 state_;
  std::array<std::byte, 16> pending_{};  // the last size_ % 16 bytes
  std::uint64_t size_ = 0;
};

/// Of the text's bytes alone: hash64 is the low word of hash128.
Hash128 hash128(std::string_view text);
std::uint64_t hash64(std::string_view text);

}  // namespace megakittens
