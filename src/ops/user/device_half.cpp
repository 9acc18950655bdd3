#include "ops/user/device_half.hpp"

#include <regex>
#include <set>
#include <system_error>

#include "support/files.hpp"
#include "support/hash.hpp"

namespace megakittens::ops {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMaxSource = std::uint64_t{1} << 24;

/// Includes by quotes that lie beside the file, as a compiler would find them first; conditions are not looked at.
std::vector<fs::path> own_includes(const fs::path& file, const std::string& text) {
  static const std::regex include(R"re(^[ \t]*#[ \t]*include[ \t]*"([^"\n]+)")re", std::regex::multiline);
  std::vector<fs::path> found;
  for (std::sregex_iterator it(text.begin(), text.end(), include), end; it != end; ++it) {
    std::error_code ignored;
    if (const fs::path path = file.parent_path() / (*it)[1].str(); fs::is_regular_file(path, ignored))
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
