// A failing schedule as a file: what was run, how, and move by move.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emulator/interleaving.hpp"
#include "program/program.hpp"

namespace megakittens::emulator {

inline constexpr int kRecordingVersion = 1;

struct Recording {
  std::string program;              // its name, for people
  std::string program_hash;         // of the program before faults were planted
  std::string finding;              // what the schedule shows, as Found::name
  std::vector<std::string> faults;  // as parse_fault takes them
  std::uint64_t seed = 1;           // of the original run; a replay does not use it
  std::uint64_t input_seed = 1;
  bool arithmetic = true;
  bool strict = false;
  Interleaving moves;
  bool operator==(const Recording&) const = default;
};

std::string hash_of(const program::Program& program);

std::string to_json(const Recording& recording);
/// Throws FormatError, beginning with `path`, for a damaged file, another version, or numbers out of range.
Recording recording_from_json(std::string_view text, const std::string& path);
/// Throws OptionError where the recording was made with another program.
void expect_fit(const Recording& recording, const program::Program& program, const std::string& path);

}  // namespace megakittens::emulator
