#include "runtime/program_file.hpp"

#include "ops/user/registry.hpp"
#include "schedule/verify.hpp"
#include "support/error.hpp"
#include "support/files.hpp"

namespace megakittens::runtime {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 32;
constexpr std::string_view kBinaryStart = "MKPROG";
constexpr std::string_view kTextStart = "megakittens-program";

}  // namespace

bool is_program_file(std::string_view bytes) {
  return bytes.starts_with(kBinaryStart) || bytes.starts_with(kTextStart);
}

program::Program parse_program(std::string_view bytes, const std::string& path) {
  try {
    program::Program program = bytes.starts_with(kTextStart) ? program::from_text(bytes) : program::from_bytes(bytes);
    ops::adopt_user_types(program);
    schedule::expect_fit(program);
    return program;
  } catch (const FormatError& error) {
    throw FormatError(fmt::format("{}: {}", path, error.what()));
  }
}

program::Program load_program(const std::string& path) {
  return parse_program(read_file(path, kMaxFileBytes), path);
}

void save_program(const program::Program& program, const std::string& path) {
  write_file(path, path.ends_with(".txt") ? program::to_text(program) : program::to_bytes(program));
}

}  // namespace megakittens::runtime
