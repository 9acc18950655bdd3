// A folder for the length of a scope.
#pragma once

#include <sys/types.h>

#include <filesystem>

namespace megakittens {

/// Created in TMPDIR (/tmp where that is unset), readable by this user alone. The destructor removes it with its
/// content, but only in the process that created it: a copy in a forked process leaves it alone. Throws UserError
/// naming the place.
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
