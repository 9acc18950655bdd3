// Whole files in and out.
#pragma once

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

}  // namespace megakittens
