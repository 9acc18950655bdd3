#include "cli/print.hpp"

#include <cstdio>
#include <string>

#include "support/printable.hpp"

namespace megakittens::cli {

namespace {

void write(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace

void print(std::string_view text) {
  write(printable(text));
}

void print_json(std::string_view json) {
  write(printable_json(json));
}

void print_line(std::string_view text) {
  print(text);
  std::fputc('\n', stdout);
}

}  // namespace megakittens::cli
