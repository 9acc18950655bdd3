#include "support/hash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace megakittens {

namespace {

constexpr std::uint64_t kFactor1 = 0x87c37b91114253d5;
constexpr std::uint64_t kFactor2 = 0x4cf5ad432745937f;

std::uint64_t load_word(const std::byte* bytes) {
  std::uint64_t word = 0;
  for (int i = 0; i < 8; ++i) word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return word;
}

std::uint64_t scramble_low(std::uint64_t word) {
  return std::rotl(word * kFactor1, 31) * kFactor2;
}
std::uint64_t scramble_high(std::uint64_t word) {
  return std::rotl(word * kFactor2, 33) * kFactor1;
}

std::uint64_t finish(std::uint64_t word) {
  word = (word ^ (word >> 33)) * 0xff51afd7ed558ccd;
  word = (word ^ (word >> 33)) * 0xc4ceb9fe1a85ec53;
  return word ^ (word >> 33);
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

}  // namespace

std::string Hash128::hex() const {
  return fmt::format("{:016x}{:016x}", high, low);
}

void Hasher::mix(const std::byte* block) {
  state_.low ^= scramble_low(load_word(block));
  state_.low = (std::rotl(state_.low, 27) + state_.high) * 5 + 0x52dce729;
  state_.high ^= scramble_high(load_word(block + 8));
  state_.high = (std::rotl(state_.high, 31) + state_.low) * 5 + 0x38495ab5;
}

Hasher& Hasher::add_bytes(std::span<const std::byte> bytes) {
  std::size_t held = size_ % 16;
  size_ += bytes.size();
  if (held != 0) {
    const std::size_t taken = std::min(bytes.size(), 16 - held);
    std::copy_n(bytes.begin(), taken, pending_.begin() + static_cast<std::ptrdiff_t>(held));
    bytes = bytes.subspan(taken);
    if (held + taken < 16) return *this;
    mix(pending_.data());
  }
  for (; bytes.size() >= 16; bytes = bytes.subspan(16)) mix(bytes.data());
  std::ranges::copy(bytes, pending_.begin());
  return *this;
}

Hasher& Hasher::add_word(std::uint64_t word) {
  std::array<std::byte, 8> bytes{};
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<std::byte>(word >> (8 * i));
  return add_bytes(bytes);
}

Hasher& Hasher::add(std::string_view text) {
  add_word(text.size());
  return add_bytes(bytes_of(text));
}

Hash128 Hasher::digest() const {
  Hash128 hash = state_;
  std::array<std::byte, 16> tail{};
  std::copy_n(pending_.begin(), size_ % 16, tail.begin());
  // A zero word scrambles to zero, so the padding leaves no trace.
  hash.high ^= scramble_high(load_word(tail.data() + 8));
  hash.low ^= scramble_low(load_word(tail.data()));
  hash.low ^= size_;
  hash.high ^= size_;
  hash.low += hash.high;
  hash.high += hash.low;
  hash.low = finish(hash.low);
  hash.high = finish(hash.high);
  hash.low += hash.high;
  hash.high += hash.low;
  return hash;
}

Hash128 hash128(std::string_view text) {
  return Hasher().add_bytes(bytes_of(text)).digest();
}

std::uint64_t hash64(std::string_view text) {
  return hash128(text).low;
}

}  // namespace megakittens
