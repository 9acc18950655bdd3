// The generated test of an instruction type that a user has added.
#pragma once

#include <string>
#include <vector>

#include "program/program.hpp"

namespace megakittens::runtime {

struct TypeTestOptions {
  int schedules = 3;     ///< of each program and each kind of input
  std::string target{};  ///< one of each family of device sources where empty
};

struct TypeTestReport {
  int programs = 0;
  int launches = 0;
};

/// For each of the type's examples and each of those targets: the operation alone, between other operations (so that it
/// waits and is waited for), where the type takes that on rows of a wider tensor, and on one SM so often that every
/// stage of its ring is used more than twice, and where the type takes epilogues with operations fused behind it. Each
/// program is verified, written and read back, and launched on the emulator under the checker: with random numbers, and
/// with whole numbers at misaligned addresses, in several schedules, which must agree bit for bit, against the type's
/// reference. Throws ExecutionError that names type, example, form and finding; UserError where the type has no
/// examples or refuses one.
TypeTestReport test_type(const std::string& name, const TypeTestOptions& options = {});

}  // namespace megakittens::runtime
