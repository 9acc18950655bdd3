#include "emulator/recording.hpp"

#include "support/error.hpp"
#include "support/hash.hpp"
#include "support/json.hpp"

namespace megakittens::emulator {
namespace {

constexpr const char* kVersionField = "megakittens_schedule";
constexpr std::int64_t kMostCtas = 148, kMostWarps = 16, kMostNumber = UINT32_MAX;

Move move_from(const JsonReader& reader) {
  const std::vector<std::int64_t> numbers = reader.integers(0, kMostNumber);
  if (numbers.size() != 4) reader.fail("a move is CTA, warp, operation and steps");
  if (numbers[0] >= kMostCtas || numbers[1] >= kMostWarps) reader.fail("there is no such CTA or warp");
  return {{static_cast<std::uint16_t>(numbers[0]), static_cast<std::uint16_t>(numbers[1]),
           static_cast<std::uint32_t>(numbers[2])},
          static_cast<std::uint32_t>(numbers[3])};
}

/// Seeds have all 64 bits, which JSON numbers of ours have not.
std::uint64_t seed_from(const JsonReader& reader) {
  const std::string& text = reader.text();
  std::uint64_t seed = 0;
  if (text.empty() || text.size() > 20) reader.fail("not a seed");
  for (const char digit : text) {
    if (digit < '0' || digit > '9') reader.fail("not a seed");
    seed = seed * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return seed;
}

}  // namespace

std::string hash_of(const program::Program& program) {
  return hash128(program::to_bytes(program)).hex();
}

std::string to_json(const Recording& recording) {
  Json json{{kVersionField, kRecordingVersion},
            {"program", recording.program},
            {"program_hash", recording.program_hash},
            {"finding", recording.finding},
            {"faults", recording.faults},
            {"seed", std::to_string(recording.seed)},
            {"input_seed", std::to_string(recording.input_seed)},
            {"arithmetic", recording.arithmetic},
            {"strict", recording.strict}};
  std::string text = json.dump(1);
  text.erase(text.rfind('\n'));  // the closing brace: a line a move follows
  text += ",\n \"moves\": [";
  const char* separator = "\n  ";
  for (const Move& move : recording.moves) {
    text +=
        fmt::format("{}[{}, {}, {}, {}]", separator, move.mover.cta, move.mover.warp, move.mover.operation, move.steps);
    separator = ",\n  ";
  }
  return text + "]\n}\n";
}

Recording recording_from_json(std::string_view text, const std::string& path) {
  const Json json = parse_json(text, path);
  const JsonReader file(json, path);
  const std::int64_t version = file.field(kVersionField).integer();
  if (version != kRecordingVersion)
    file.fail(fmt::format("a schedule of version {}; this build reads version {}", version, kRecordingVersion));
  file.only_fields({kVersionField, "program", "program_hash", "finding", "faults", "seed", "input_seed", "arithmetic",
                    "strict", "moves"});
  Recording recording;
  recording.program = file.field("program").text();
  recording.program_hash = file.field("program_hash").text();
  recording.finding = file.field("finding").text();
  for (const JsonReader& fault : file.field("faults").elements()) recording.faults.push_back(fault.text());
  recording.seed = seed_from(file.field("seed"));
  recording.input_seed = seed_from(file.field("input_seed"));
  recording.arithmetic = file.field("arithmetic").boolean();
  recording.strict = file.field("strict").boolean();
  for (const JsonReader& move : file.field("moves").elements()) recording.moves.push_back(move_from(move));
  return recording;
}

void expect_fit(const Recording& recording, const program::Program& program, const std::string& path) {
  if (const std::string hash = hash_of(program); hash != recording.program_hash)
    throw OptionError(
        fmt::format("{}: recorded with program '{}' ({}), not with '{}' ({}); a graph needs the options it "
                    "was scheduled with then",
                    path, recording.program, recording.program_hash, program.name, hash));
}

}  // namespace megakittens::emulator
