#include "emulator/declared_regions.hpp"

#include <algorithm>

#include "ops/icodes.hpp"

namespace megakittens::emulator {

DeclaredRegions::DeclaredRegions(const program::Program& program)
    : program_(program), instructions_(program.instructions.size()) {
  for (const program::Instruction& instruction : program.instructions)
    if (instruction.icode != 0 && !types_.contains(instruction.icode))
      types_[instruction.icode] = &ops::type_of_icode(instruction.icode);
}

void DeclaredRegions::collect_users() {
  if (program_.types.empty()) return;
  for (std::size_t i = 0; i < instructions_.size(); ++i)
    if (program_.instructions[i].icode >= ops::kIcodeCount && !instructions_[i].known) collect(i);
}

void DeclaredRegions::shrink(bool on) {
  if (on != shrunk_) instructions_.assign(program_.instructions.size(), {});
  shrunk_ = on;
}

void DeclaredRegions::collect(std::size_t number) {
  Boxes& boxes = instructions_[number];
  boxes.known = true;
  const program::Instruction& instruction = program_.instructions[number];
  if (instruction.icode == 0) return;
  for (const ops::Region& region :
       types_.at(instruction.icode)->regions(program_.records[instruction.node], instruction)) {
    const std::int64_t element = program::size_of(region.type);
    std::vector<std::pair<std::int64_t, std::int64_t>> dims;  // stride in bytes, size
    for (std::size_t d = 0; d < region.sizes.size(); ++d)
      if (region.sizes[d] != 1 && region.strides[d] != 0)
        dims.emplace_back(region.strides[d] * element, region.sizes[d]);
    std::ranges::sort(dims, std::greater<>());
    if (shrunk_ && !dims.empty()) --dims.front().second;
    if (std::ranges::any_of(dims, [](const auto& dim) { return dim.second <= 0; })) continue;
    Box box{region.storage, region.write, 0, region.offset * element, element, {}, {}, {}};
    // Rows that touch or overlap are one.
    while (!dims.empty() && dims.back().first <= box.run) {
      box.run += dims.back().first * (dims.back().second - 1);
      dims.pop_back();
    }
    for (const auto& [stride, size] : dims) {
      box.strides[box.rank] = stride;
      box.sizes[box.rank++] = size;
    }
    box.extents[box.rank] = box.run;
    for (int d = box.rank; d-- > 0;) box.extents[d] = box.extents[d + 1] + box.strides[d] * (box.sizes[d] - 1);
    boxes.boxes.push_back(box);
  }
}

std::int64_t DeclaredRegions::run_at(const Box& box, std::int64_t at, int d) {
  if (at < 0 || at >= box.extents[d]) return 0;
  if (d == box.rank) return box.run - at;
  // As a rule one index holds `at`, and more where what lies inside is longer than a stride.
  std::int64_t run = 0;
  for (std::int64_t index = std::min(at / box.strides[d], box.sizes[d] - 1);
       index >= 0 && at - index * box.strides[d] < box.extents[d + 1]; --index)
    run = std::max(run, run_at(box, at - index * box.strides[d], d + 1));
  return run;
}

bool DeclaredRegions::covers(int tag, std::int64_t instruction, bool write, std::uint64_t offset, std::uint64_t bytes) {
  const auto number = static_cast<std::size_t>(instruction);
  if (number >= instructions_.size()) return false;
  if (!instructions_[number].known) collect(number);
  auto at = static_cast<std::int64_t>(offset);
  const std::int64_t end = at + static_cast<std::int64_t>(bytes);
  while (at < end) {
    std::int64_t run = 0;
    for (const Box& box : instructions_[number].boxes)
      if (box.storage == static_cast<std::uint32_t>(tag) && (box.write || !write))
        run = std::max(run, run_at(box, at - box.offset));
    if (run == 0) return false;
    at += run;
  }
  return true;
}

}  // namespace megakittens::emulator
