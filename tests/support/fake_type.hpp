// An instruction type for scheduler tests: pointwise nodes over two dimensions in tiles of the test's choice.
#pragma once

#include <map>

#include "schedule/schedule.hpp"
#include "schedule/verify.hpp"

namespace megakittens::test {

struct TileSize {
  std::int64_t rows = 128;
  std::int64_t columns = 128;
};

/// Takes every node but opaque ones. Tile t covers rows and columns of the output in row-major order; each operand is
/// read where the output is written.
class FakeType : public ops::InstructionType {
 public:
  static constexpr std::uint16_t kIcode = 1;

  /// Tiles of the nodes with these names; others are cut by `common`.
  std::map<std::string, TileSize> tiles;
  TileSize common;

  std::string_view name() const override { return "fake"; }
  std::optional<std::string> unsuited(const ir::Graph& graph, const ir::Node& node,
                                      const ops::PlanOptions& options) const override;
  std::unique_ptr<ops::NodePlan> plan(const ir::Graph& graph, const ir::Node& node,
                                      const ops::PlanOptions& options) const override;
  std::vector<ops::Region> regions(const program::NodeRecord& record,
                                   const program::Instruction& instruction) const override;

  schedule::ScheduleOptions options(const program::Config& config) const;
  schedule::VerifyOptions verify_options() const;
};

/// The instructions that raise the counter.
std::vector<std::uint32_t> arrivers(const program::Program& program, std::uint32_t counter);
/// Everything that instruction `i` waits for where the wait guards one of `guard`, through noops, ascending.
std::vector<std::uint32_t> waited_for(const program::Program& program, std::uint32_t i, std::uint32_t guard);
/// The texts of findings, a line each.
std::string to_string(const std::vector<schedule::Finding>& findings);

}  // namespace megakittens::test
