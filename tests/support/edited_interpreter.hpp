// Interpreters whose sources are edited in memory before they are compiled: builds that nobody ships.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "jit/compile.hpp"

namespace megakittens::test {

/// `text` stands in `file` exactly once, and becomes `replacement`.
struct SourceEdit {
  std::string_view file;  ///< as includes name it
  std::string_view text;
  std::string_view replacement;
};

/// The interpreter for Hopper with these edits. Throws InternalError where one does not match exactly once.
jit::CompileRequest edited_interpreter(const std::vector<SourceEdit>& edits);

/// Where its machine code lies in a folder that MEGAKITTENS_CACHE_DIR may name while no compiler is found: as the cache
/// names a kernel of another compiler, by the sources; and by `kind` and the edits.
std::filesystem::path edited_cubin_path(const std::filesystem::path& folder, std::string_view kind,
                                        const std::vector<SourceEdit>& edits);

/// Compiles it to there, and leaves no other machine code in the folder, because the cache might take it. Line
/// information is for tools that name source lines.
void compile_edited(const std::filesystem::path& folder, std::string_view kind, const std::vector<SourceEdit>& edits,
                    bool line_info = false);

}  // namespace megakittens::test
