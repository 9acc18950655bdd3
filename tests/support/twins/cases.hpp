// Twin tests: a kernel of tests/gpu/twins, with what it is launched, and how far its results may lie apart on the GPU
// and on the emulator.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "device/tensor_map_fields.hpp"
#include "emulator/report.hpp"
#include "gpu/twins/twin.cuh"

namespace megakittens::test {

/// How output bytes are compared.
struct Agreement {
  enum class Kind : std::uint8_t {
    bits,
    floats,  ///< bits, but any NaN equals any other
    halves,  ///< the same of 16-bit floats of either type: where both exponents of bf16 are full
    ulps,    ///< floats at most `distance` units in the last place apart; results below FLT_MIN may be flushed
    close,   ///< floats at most `distance` apart
  };
  Kind kind = Kind::bits;
  double distance = 0;
};

/// A tensor map over the input or the output, `base` counted from its start.
struct TwinMap {
  device::TensorMapFields fields{};
  bool of_output = false;
  bool in_memory = false;  ///< also placed into the first 128 bytes of the input
};

struct TwinCase {
  std::string name;
  std::string kernel;
  void (*host)(const twins::Parameters&) = nullptr;
  std::uint32_t warps = 1, grid = 1, cluster = 1;
  std::uint32_t shared_bytes = 0;
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  std::vector<std::int32_t> at = {};
  std::vector<std::byte> in = {};
  std::vector<std::byte> out = {};  ///< before the launch
  std::optional<TwinMap> map = {};
  Agreement agreement = {};
  bool fails = false;  ///< the launch ends in an error on both machines
};

/// The cases of one source.
struct TwinGroup {
  std::string name;
  std::string source;  ///< from tests/
  std::function<std::vector<TwinCase>()> cases;
};
/// For test lists.
inline std::ostream& operator<<(std::ostream& to, const TwinGroup& group) {
  return to << group.source;
}

const std::vector<TwinGroup>& twin_groups();

std::vector<TwinCase> arithmetic_twins();
std::vector<TwinCase> memory_twins();
std::vector<TwinCase> warp_twins();
std::vector<TwinCase> bulk_twins();
std::vector<TwinCase> tensor_twins();
std::vector<TwinCase> barrier_twins();
std::vector<TwinCase> sync_twins();
std::vector<TwinCase> product_twins();

/// Whole words of chance; the same ones for a seed.
std::vector<std::byte> random_bytes(std::size_t bytes, std::uint64_t seed);
std::vector<std::byte> to_bytes(std::span<const std::uint32_t> words);

/// The case on the emulator under a schedule's seed: its output, and what the checker says.
struct TwinRun {
  std::vector<std::byte> out;
  emulator::Report report;
};
TwinRun run_on_emulator(const TwinCase& twin, std::uint64_t seed = 1);

/// Empty where the two outputs agree; else the first place where they do not, and how many there are.
std::string disagreement(const TwinCase& twin, std::span<const std::byte> gpu, std::span<const std::byte> host);

}  // namespace megakittens::test
