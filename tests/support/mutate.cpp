#include "support/mutate.hpp"

#include <gtest/gtest.h>

#include <random>

#include "support/error.hpp"
#include "support/options.hpp"

namespace megakittens::test {

std::string mutate(std::string_view original, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text(original);
  // Characters with a meaning to the formats we read find more than random ones.
  constexpr std::string_view kTelling = "[]{}\",:-0919eE.\\u\n\0\xff\x80";
  for (std::uint64_t faults = 1 + random() % 4; faults > 0 && !text.empty(); --faults) {
    const std::size_t at = random() % text.size();
    const std::size_t length = 1 + random() % std::min<std::size_t>(16, text.size() - at);
    switch (random() % 6) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << (random() % 8)));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(at, length));
        break;
      case 3:
        text[at] = kTelling[random() % kTelling.size()];
        break;
      case 4:
        text.insert(at, 1, kTelling[random() % kTelling.size()]);
        break;
      default:
        text.resize(at);
        break;
    }
  }
  return text;
}

void fuzz(std::string_view original, const std::function<void(const std::string&)>& read) {
  const std::uint64_t count = flag_option(Knob::long_tests) ? 200'000 : 2'000;
  for (std::uint64_t seed = 0; seed < count; ++seed) {
    try {
      read(mutate(original, seed));
    } catch (const UserError& refusal) {
      ASSERT_NE(std::string_view(refusal.what()), "") << "seed " << seed;
    } catch (const std::exception& leak) {
      FAIL() << "seed " << seed << ": " << leak.what();
    }
  }
}

}  // namespace megakittens::test
