// Text in columns.
#pragma once

#include <string>
#include <vector>

namespace megakittens::cli {

/// Columns as wide as their widest cell, two blanks apart; a column whose heading begins with '>' is aligned right.
/// Ends with a line end; no blanks at the ends of lines.
std::string table(const std::vector<std::string>& headings, const std::vector<std::vector<std::string>>& rows);

/// "1.5 MB": bytes in the largest unit that leaves at least one.
std::string bytes_text(double bytes);

}  // namespace megakittens::cli
