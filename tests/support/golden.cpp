#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/files.hpp"
#include "support/options.hpp"

namespace megakittens::test {

void expect_golden(const std::string& path, std::string_view text) {
  const std::filesystem::path full = std::filesystem::path(MK_SOURCE_DIR) / path;
  if (flag_option(Knob::update_goldens)) {
    std::filesystem::create_directories(full.parent_path());
    write_file(full, text);
    return;
  }
  constexpr std::uint64_t kLargestGolden = std::uint64_t{1} << 26;
  ASSERT_TRUE(std::filesystem::exists(full)) << path << " is missing; MEGAKITTENS_UPDATE_GOLDENS=1 writes it";
  EXPECT_EQ(read_file(full, kLargestGolden), text) << path << " differs; MEGAKITTENS_UPDATE_GOLDENS=1 rewrites it";
}

}  // namespace megakittens::test
