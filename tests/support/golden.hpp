// Comparison with a file of the tree; MEGAKITTENS_UPDATE_GOLDENS=1 rewrites the file.
#pragma once

#include <string>
#include <string_view>

namespace megakittens::test {

/// Fails the test when `path`, relative to the tree, does not hold exactly `text`. The message says how to update it.
void expect_golden(const std::string& path, std::string_view text);

}  // namespace megakittens::test
