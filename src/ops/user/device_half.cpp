#include "ops/user/device_half.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <system_error>

#include "support/files.hpp"
#include "support/hash.hpp"

namespace megakittens::ops {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxSource = std::uint64_t{1} << 24;

/// Takes `word` and blanks before it from the front. False where it is not there.
bool take(std::string_view& text, std::string_view word) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

/// What a line includes by quotes, or nothing. By hand: PyTorch's libraries export std::regex of another compiler, and
/// a process that has both crashes in it.
std::string_view included(std::string_view line) {
  if (!take(line, "#") || !take(line, "include") || !take(line, "\"")) return {};
  const std::size_t end = line.find('"');
  return end == std::string_view::npos ? std::string_view{} : line.substr(0, end);
}

/// Includes by quotes that lie beside the file, as a compiler would find them first; conditions are not looked at.
std::vector<fs::path> own_includes(const fs::path& file, std::string_view text) {
  std::vector<fs::path> found;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    const std::string_view name = included(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
    if (name.empty()) continue;
    std::error_code ignored;
    if (const fs::path path = file.parent_path() / name; fs::is_regular_file(path, ignored))
      found.push_back(fs::weakly_canonical(path, ignored));
  }
  return found;
}

}  // namespace

std::string structure_name(const std::string& type_name) {
  std::string name;
  bool upper = true;
  for (char c : type_name) {
    if (c != '_') name += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = c == '_';
  }
  return name;
}

std::string hash_of_device_half(const fs::path& path) {
  Hasher hasher;
  std::set<fs::path> seen{path};
  std::vector<fs::path> open{path};
  for (std::size_t next = 0; next < open.size(); ++next) {
    const fs::path file = open[next];
    const std::string text = read_file(file, kMaxSource);
    hasher.add(text);
    for (fs::path& include : own_includes(file, text))
      if (seen.insert(include).second) open.push_back(std::move(include));
  }
  return hasher.digest().hex();
}

}  // namespace megakittens::ops
