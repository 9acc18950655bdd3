#include "support/fake_type.hpp"

#include <algorithm>
#include <set>

#include "ops/common/merge.hpp"
#include "ops/common/regions.hpp"

namespace megakittens::test {
namespace {

class FakePlan : public ops::NodePlan {
 public:
  FakePlan(const ir::Graph& graph, const ir::Node& node, TileSize tile) : tile_(tile) {
    for (const ir::Operand& operand : node.operands) add(graph, operand.value, operand.view, false);
    inputs_ = static_cast<int>(views.size());
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      add(graph, node.outputs[k], ops::output_view(graph, node, static_cast<int>(k)), true);
    icode = FakeType::kIcode;
    rows_ = views.back().sizes[2];
    columns_ = views.back().sizes[3];
    across_ = (columns_ + tile.columns - 1) / tile.columns;
    count = (rows_ + tile.rows - 1) / tile.rows * across_;
  }

  ops::InstructionPlan instruction(std::int64_t i) const override {
    const std::int64_t row = i / across_ * tile_.rows;
    const std::int64_t column = i % across_ * tile_.columns;
    const std::int64_t row_end = std::min(row + tile_.rows, rows_);
    const std::int64_t column_end = std::min(column + tile_.columns, columns_);
    ops::InstructionPlan plan;
    for (std::int64_t word : {row, row_end, column, column_end}) plan.index.push_back(static_cast<std::int32_t>(word));
    const ir::Box box{.lo = {0, 0, row, column}, .hi = {1, 1, row_end, column_end}};
    for (int k = 0; k < static_cast<int>(views.size()); ++k)
      (k < inputs_ ? plan.reads : plan.writes).push_back({.operand = k, .box = box});
    return plan;
  }

 private:
  void add(const ir::Graph& graph, ir::ValueId value, ir::View view, bool output) {
    while (view.rank() < program::kMaxTileRank) view = view.unsqueeze(0);
    const ir::DType dtype = graph.value(value).tensor.dtype;
    record.operands[record.operand_count++] = ops::operand_record(view, dtype, output);
    record.output_count = static_cast<std::uint16_t>(record.output_count + (output ? 1 : 0));
    views.push_back(std::move(view));
  }

  TileSize tile_;
  int inputs_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t across_ = 1;
};

void collect(const program::Program& program, const program::Instruction& instruction, std::uint32_t guard,
             std::set<std::uint32_t>& found) {
  for (int w = 0; w < instruction.wait_count; ++w) {
    if ((instruction.guard(w) & guard) == 0) continue;
    for (std::uint32_t i : arrivers(program, instruction.waits[w].counter)) {
      if (program.instructions[i].icode != 0)
        found.insert(i);
      else
        collect(program, program.instructions[i], 0xff, found);
    }
  }
}

}  // namespace

std::optional<std::string> FakeType::unsuited(const ir::Graph&, const ir::Node& node, const ops::PlanOptions&) const {
  if (node.family == ir::Family::call) return "fake: a call";
  return std::nullopt;
}

std::unique_ptr<ops::NodePlan> FakeType::plan(const ir::Graph& graph, const ir::Node& node,
                                              const ops::PlanOptions&) const {
  auto own = tiles.find(node.name);
  return std::make_unique<FakePlan>(graph, node, own == tiles.end() ? common : own->second);
}

std::vector<ops::Region> FakeType::regions(const program::NodeRecord& record,
                                           const program::Instruction& instruction) const {
  const std::int32_t* index = instruction.index;
  const ops::TileRange range{.lo = {0, 0, index[0], index[2]}, .hi = {1, 1, index[1], index[3]}};
  std::vector<ops::Region> regions;
  for (int k = 0; k < record.operand_count; ++k) regions.push_back(ops::tile_region(record, k, range));
  return regions;
}

schedule::ScheduleOptions FakeType::options(const program::Config& config) const {
  return {.config = config,
          .tiling = ops::Tiling::automatic,
          .name = {},
          .resolve = [this](const ir::Graph&, const ir::Node&, const ops::PlanOptions&) -> const ops::InstructionType& {
            return *this;
          }};
}

schedule::VerifyOptions FakeType::verify_options() const {
  schedule::VerifyOptions options;
  options.type_of = [this](std::uint16_t) -> const ops::InstructionType& { return *this; };
  return options;
}

std::vector<std::uint32_t> arrivers(const program::Program& program, std::uint32_t counter) {
  std::vector<std::uint32_t> found;
  for (const program::Instruction& instruction : program.instructions)
    for (int a = 0; a < instruction.arrival_count; ++a)
      if (instruction.arrivals[a] == counter) found.push_back(instruction.number);
  return found;
}

std::vector<std::uint32_t> waited_for(const program::Program& program, std::uint32_t i, std::uint32_t guard) {
  std::set<std::uint32_t> found;
  collect(program, program.instructions[i], guard, found);
  return {found.begin(), found.end()};
}

std::string to_string(const std::vector<schedule::Finding>& findings) {
  std::string text;
  for (const schedule::Finding& finding : findings) text += finding.text + "\n";
  return text;
}

}  // namespace megakittens::test
