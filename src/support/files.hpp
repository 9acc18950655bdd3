// Whole files in and out, and temporary folders.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace megakittens {

/// The file's bytes. A UserError names the path and the reason when it cannot be read; CapacityError when it holds more
/// than `max_bytes`.
std::string read_file(const std::filesystem::path& path, std::uint64_t max_bytes);

/// Readers see the old file or the new one, never a part: the bytes go to a new file beside it, which then takes its
/// name. A UserError names the path and the reason when it cannot be written.
void write_file(const std::filesystem::path& path, std::string_view bytes);

/// A folder for the length of a scope, in TMPDIR (/tmp where that is unset), readable by this user alone. The
/// destructor removes it with its content, but only in the process that created it: a copy in a forked process leaves
/// it alone. Throws UserError naming the place.
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
