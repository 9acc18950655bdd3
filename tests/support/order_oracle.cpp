#include "support/order_oracle.hpp"

#include <algorithm>

namespace megakittens::test {
namespace {

using program::Instruction;
using program::Program;

using Run = std::pair<std::int64_t, std::int64_t>;

struct Access {
  std::uint32_t instruction;
  bool write;
  std::uint32_t guard;
  std::vector<Run> runs;  // of bytes, ascending
};

void add_runs(const ops::Region& region, std::size_t dim, std::int64_t element, std::vector<Run>& runs) {
  if (dim == region.sizes.size()) {
    const std::int64_t size = program::size_of(region.type);
    runs.emplace_back(element * size, (element + 1) * size);
    return;
  }
  for (std::int64_t i = 0; i < region.sizes[dim]; ++i) {
    add_runs(region, dim + 1, element + i * region.strides[dim], runs);
    if (region.strides[dim] == 0) break;
  }
}

std::vector<Run> runs_of(const ops::Region& region) {
  std::vector<Run> runs;
  if (std::ranges::find(region.sizes, 0) != region.sizes.end()) return runs;
  add_runs(region, 0, region.offset, runs);
  std::ranges::sort(runs);
  std::vector<Run> merged;
  for (const Run& run : runs) {
    if (!merged.empty() && run.first <= merged.back().second)
      merged.back().second = std::max(merged.back().second, run.second);
    else
      merged.push_back(run);
  }
  return merged;
}

bool meet(const std::vector<Run>& a, const std::vector<Run>& b) {
  for (auto i = a.begin(), j = b.begin(); i != a.end() && j != b.end();) {
    if (i->first < j->second && j->first < i->second) return true;
    (i->second < j->second ? i : j)++;
  }
  return false;
}

}  // namespace

OrderOracle::OrderOracle(const Program& program, const schedule::VerifyOptions& options) {
  std::vector<std::vector<Access>> accesses(program.storages.size());
  touched_.assign(program.instructions.size(), 0xff);
  for (const Instruction& instruction : program.instructions) {
    if (instruction.icode == 0) continue;
    touched_[instruction.number] = 0;
    const ops::InstructionType& type =
        options.type_of ? options.type_of(instruction.icode) : ops::type_of_icode(instruction.icode);
    for (const ops::Region& region : type.regions(program.records[instruction.node], instruction)) {
      const std::uint32_t guard =
          region.write ? program::kGuardWrite : program::guard_bit(static_cast<std::uint32_t>(region.operand));
      touched_[instruction.number] |= guard;
      accesses[region.storage].push_back({instruction.number, region.write, guard, runs_of(region)});
    }
  }
  for (const std::vector<Access>& list : accesses)
    for (const Access& a : list)
      for (const Access& b : list)
        if (a.instruction < b.instruction && (a.write || b.write) && meet(a.runs, b.runs))
          conflicts_.push_back({a.instruction, b.instruction, b.guard});
}

std::size_t OrderOracle::unordered(const Program& program) const {
  const std::size_t count = program.instructions.size();
  std::vector<std::vector<std::uint32_t>> raisers(program.counters.size());
  for (const Instruction& instruction : program.instructions)
    for (int a = 0; a < instruction.arrival_count; ++a) raisers[instruction.arrivals[a]].push_back(instruction.number);
  // before[i][j]: instruction j is over before the accesses of i that `mask` names.
  std::vector<std::vector<bool>> before(count, std::vector<bool>(count, false));
  auto waited = [&](const Instruction& instruction, std::uint32_t mask) {
    std::vector<bool> over(count, false);
    for (int w = 0; w < instruction.wait_count; ++w) {
      const program::Wait& wait = instruction.waits[w];
      if ((instruction.guard(w) & mask) == 0 || wait.needed != raisers[wait.counter].size()) continue;
      for (std::uint32_t raiser : raisers[wait.counter]) {
        over[raiser] = true;
        for (std::size_t j = 0; j < count; ++j) over[j] = over[j] || before[raiser][j];
      }
    }
    return over;
  };
  for (const Instruction& instruction : program.instructions)
    before[instruction.number] = waited(instruction, touched_[instruction.number]);
  std::size_t unordered = 0;
  for (const Conflict& conflict : conflicts_)
    if (!waited(program.instructions[conflict.second], conflict.guard)[conflict.first]) ++unordered;
  return unordered;
}

}  // namespace megakittens::test
