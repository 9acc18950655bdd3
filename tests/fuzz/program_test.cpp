#include <gtest/gtest.h>

#include <cstring>

#include "schedule/schedule.hpp"
#include "schedule/verify.hpp"
#include "support/graphs.hpp"
#include "support/hash.hpp"
#include "support/mutate.hpp"

namespace megakittens::program {
namespace {

Program small_mlp() {
  return schedule::schedule(test::mlp(32, 256, 2), {.config = {.sms = 2}, .name = {}, .resolve = {}});
}

/// Size and hash of the header made right again, so that damage reaches the sections.
std::string with_honest_header(std::string bytes) {
  constexpr std::size_t kHeader = 32;
  if (bytes.size() < kHeader) return bytes;
  const std::uint64_t size = bytes.size();
  const std::uint64_t hash = hash64(std::string_view(bytes).substr(kHeader));
  std::memcpy(bytes.data() + 16, &size, sizeof(size));
  std::memcpy(bytes.data() + 24, &hash, sizeof(hash));
  return bytes;
}

/// What every reader does next with a program that it accepted.
void use(const Program& program) {
  to_text(program);
  for (std::size_t i = 0; i < program.instructions.size(); ++i) describe_instruction(program, i);
  schedule::verify(program);
}

}  // namespace

TEST(ProgramFuzz, damaged_program_files_are_refused) {
  test::fuzz(to_bytes(small_mlp()), [](const std::string& bytes) { use(from_bytes(bytes)); });
}

TEST(ProgramFuzz, hostile_program_files_are_refused_or_within_bounds) {
  test::fuzz(to_bytes(small_mlp()), [](const std::string& bytes) { use(from_bytes(with_honest_header(bytes))); });
}

TEST(ProgramFuzz, damaged_program_texts_are_refused_or_within_bounds) {
  test::fuzz(to_text(small_mlp()), [](const std::string& text) { use(from_text(text)); });
}

}  // namespace megakittens::program
