// Plug-ins: libraries that bring users' instruction types.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace megakittens::runtime {

/// Opens a plug-in, checks its version, and registers its types; gives their names. The same file again registers
/// those of its types that were unregistered meanwhile, and gives the same names. Device halves that it names by a
/// relative path lie relative to its folder. Never closed.
/// `device_half`, where it is not empty, is that of the plug-in's one type instead of what it names itself.
/// Throws UserError naming the path where it cannot be opened, is no plug-in, or was compiled for another version, and
/// as ops::register_user_type does, or where its own code throws; then none of its types is registered.
std::vector<std::string> load_plugin(const std::filesystem::path& path, const std::filesystem::path& device_half = {});

}  // namespace megakittens::runtime
