// The one source of chance of a run: small, fast, the same on every host.
#pragma once

#include <cstdint>

namespace megakittens::emulator {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 0x2545F4914F6CDD1Dull) {}

  std::uint64_t next() {  // splitmix64
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  /// A number in [0, bound); bound is below 2^32.
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32); }
  /// True with probability numerator / 256.
  bool chance(std::uint32_t numerator) { return (next() >> 56) < numerator; }

 private:
  std::uint64_t state_;
};

}  // namespace megakittens::emulator
