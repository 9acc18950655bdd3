// Damaged copies of an input, for tests that a reader refuses what it cannot take and never crashes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace megakittens::test {

/// A copy with one to four faults: bytes flipped, removed, repeated, replaced, or the end cut off. A function of the
/// seed.
std::string mutate(std::string_view original, std::uint64_t seed);

/// Calls `read` with damaged copies: 2,000 of them, or 200,000 with MEGAKITTENS_LONG=1. `read` may throw UserError (and
/// what derives from it); anything else fails the test with the seed.
void fuzz(std::string_view original, const std::function<void(const std::string&)>& read);

}  // namespace megakittens::test
