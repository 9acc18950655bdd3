// The device half of a user's type: a file, the user's files that it includes, and a hash of them all.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace megakittens::ops {

struct DeviceHalf {
  std::string name;       ///< of the type
  std::string structure;  ///< in namespace megakittens::user
  std::filesystem::path path;
  std::uint16_t icode = 0;
  /// 32 digits that change with any byte of the file or of a file that it includes by quotes, from its own folder on.
  /// The device vocabulary is not among them: whoever compiles knows its hash.
  std::string hash;
};

/// "rms_norm" gives "RmsNorm".
std::string structure_name(const std::string& type_name);

/// Hash of the files as they are now. Throws UserError where one cannot be read.
std::string hash_of_device_half(const std::filesystem::path& path);

}  // namespace megakittens::ops
