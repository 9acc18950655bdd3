#include "cli/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace megakittens::cli {

std::string table(const std::vector<std::string>& headings, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::string> names;
  std::vector<std::size_t> widths;
  for (const std::string& heading : headings) {
    names.push_back(heading.starts_with('>') ? heading.substr(1) : heading);
    widths.push_back(names.back().size());
  }
  for (const std::vector<std::string>& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string text;
  auto add = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c)
      line += headings[c].starts_with('>') ? fmt::format("  {:>{}}", row[c], widths[c])
                                           : fmt::format("  {:<{}}", row[c], widths[c]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  add(names);
  for (const std::vector<std::string>& row : rows) add(row);
  return text;
}

std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(kUnits); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}

}  // namespace megakittens::cli
