#include "support/hash.hpp"

#include <gtest/gtest.h>

namespace megakittens {
namespace {

// Expected values come from the published algorithm: these keys live in caches and files, so they never change.
TEST(Hash, agrees_with_the_published_algorithm) {
  EXPECT_EQ(hash128("").hex(), "00000000000000000000000000000000");
  EXPECT_EQ(hash128("hello").hex(), "5b1e906a48ae1d19cbd8a7b341bd9b02");
  EXPECT_EQ(hash128("The quick brown fox jumps over the lazy dog").hex(), "7a433ca9c49a9347e34bbc7bbc071b6c");
  EXPECT_EQ(hash64("hello"), 0xcbd8a7b341bd9b02U);
}

TEST(Hash, does_not_depend_on_how_the_bytes_are_cut) {
  const std::string text = "0123456789abcdefghijklmnopqrstuvwxyz0123456789";
  for (std::size_t first = 0; first <= text.size(); ++first) {
    for (std::size_t second = first; second <= text.size(); ++second) {
      const auto bytes = std::as_bytes(std::span(text));
      Hasher hasher;
      hasher.add_bytes(bytes.first(first)).add_bytes(bytes.subspan(first, second - first));
      EXPECT_EQ(hasher.add_bytes(bytes.subspan(second)).digest(), hash128(text)) << first << " " << second;
    }
  }
}

TEST(Hash, tells_neighbouring_texts_apart) {
  EXPECT_NE(Hasher().add("ab").add("c").digest(), Hasher().add("a").add("bc").digest());
  EXPECT_NE(Hasher().add("").digest(), Hasher().digest());
}

TEST(Hash, an_integer_has_one_hash_whatever_its_width) {
  EXPECT_EQ(Hasher().add(std::int8_t{-5}).digest(), Hasher().add(std::int64_t{-5}).digest());
  EXPECT_EQ(Hasher().add(7U).digest(), Hasher().add(std::int64_t{7}).digest());
}

}  // namespace
}  // namespace megakittens
