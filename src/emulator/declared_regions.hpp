// The regions that each instruction's type declares, for the checker: what lies outside them is a finding.
#pragma once

#include <map>
#include <vector>

#include "emulator/launch.hpp"
#include "ops/instruction_type.hpp"
#include "program/program.hpp"

namespace megakittens::emulator {

/// Tags are storage numbers. The program must outlive it; regions are queried when an instruction first touches
/// memory, and kept. The constructor throws FormatError for an icode that no type has.
class DeclaredRegions final : public Declared {
 public:
  explicit DeclaredRegions(const program::Program& program);

  /// True where declared regions of the instruction hold every byte: its inputs and outputs for a read, its outputs for
  /// a write. An instruction number that the program does not have holds nothing.
  bool covers(int tag, std::int64_t instruction, bool write, std::uint64_t offset, std::uint64_t bytes) override;

  /// Asks users' types now: their host halves may be Python, which does not run on a fibre's stack. Throws what they
  /// throw.
  void collect_users();

  /// From now on regions lack the last row of their outermost dimension (FaultPoint::kDeclaredRegions), or no longer.
  void shrink(bool on);

 private:
  /// Rows of `run` bytes from `offset`, at the outer dimensions' strides, which descend.
  struct Box {
    std::uint32_t storage;
    bool write;
    int rank;
    std::int64_t offset, run;
    std::int64_t sizes[8], strides[8];  // from the widest stride to the narrowest, all wider than `run`
    std::int64_t extents[9];            // bytes from the first to the end of the last, of dimensions from d on
  };
  struct Boxes {
    bool known = false;
    std::vector<Box> boxes;
  };

  void collect(std::size_t instruction);
  /// Bytes without a gap from `at` on, which counts from the box's first one, that its dimensions from d on hold; 0
  /// where they do not hold `at`.
  static std::int64_t run_at(const Box& box, std::int64_t at, int d = 0);

  const program::Program& program_;
  std::map<std::uint16_t, const ops::InstructionType*> types_;
  std::vector<Boxes> instructions_;
  bool shrunk_ = false;
};

}  // namespace megakittens::emulator
