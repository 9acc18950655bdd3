// A folder for the length of a scope.
#pragma once

#include <sys/types.h>

#include <filesystem>

namespace megakittens {

/// Made, readable by this user alone, where TMPDIR says (/tmp unless it is set), and removed with what lies in it at
/// the end by the process that made it: a copy of it in a forked process leaves it alone. Throws UserError naming the
/// place.
class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  pid_t owner_;
};

}  // namespace megakittens
