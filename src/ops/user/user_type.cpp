#include "ops/user/user_type.hpp"

#include <algorithm>
#include <filesystem>

#include "ops/common/merge.hpp"
#include "support/error.hpp"
#include "support/hash.hpp"

namespace megakittens::ops {
namespace {

using megakittens::Call;
using megakittens::OperandInfo;
using megakittens::Touch;

bool is_name(const std::string& name) {
  auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name[0] >= 'a' && name[0] <= 'z' && std::ranges::all_of(name, good);
}

/// Four dimensions, ones in front; a dimension of size 1 is never walked.
ir::View four_dimensions(ir::View view) {
  while (view.rank() < program::kMaxTileRank) view = view.unsqueeze(0);
  for (int d = 0; d < view.rank(); ++d)
    if (view.sizes[d] == 1) view.strides[d] = 0;
  return view;
}

OperandInfo info_of(const program::OperandRecord& record) {
  OperandInfo info{.dtype = static_cast<DType>(record.type),
                   .sizes = {},
                   .strides = {},
                   .output = (record.flags & program::kOperandOutput) != 0};
  std::copy_n(record.sizes, program::kMaxTileRank, info.sizes.begin());
  std::copy_n(record.strides, program::kMaxTileRank, info.strides.begin());
  return info;
}

/// The node's operands and outputs as the type sees them, and why it cannot be shown them, if so.
struct Shown {
  Call call;
  std::vector<ir::View> views;
  program::NodeRecord record{};
  std::optional<std::string> problem;

  Shown(const ir::Graph& graph, const ir::Node& node, std::uint32_t sms) {
    if (node.operands.size() + node.outputs.size() > program::kMaxOperands) {
      problem = fmt::format("it has {} operands and results, the limit is {}",
                            node.operands.size() + node.outputs.size(), program::kMaxOperands);
      return;
    }
    for (const ir::Operand& operand : node.operands) add(operand.view, graph.value(operand.value).tensor.dtype, false);
    for (std::size_t k = 0; k < node.outputs.size(); ++k)
      add(output_view(graph, node, static_cast<int>(k)), graph.value(node.outputs[k]).tensor.dtype, true);
    call.sms = sms;
    call.arguments = ir::call_of(node)->arguments;
  }

 private:
  void add(const ir::View& whole, ir::DType dtype, bool output) {
    if (problem) return;
    const std::size_t k = views.size();
    if (whole.rank() > program::kMaxTileRank) {
      problem = fmt::format("operand {} has {} dimensions; users' types see at most {}: reshape it before the call", k,
                            whole.rank(), program::kMaxTileRank);
      return;
    }
    ir::View view = four_dimensions(whole);
    for (std::int64_t size : view.sizes)
      if (size > program::kMaxExtent)
        problem = fmt::format("a dimension of {} elements is over the limit of {}", size, program::kMaxExtent);
    if (!problem) problem = stride_problem(view, dtype);
    if (problem) return;
    record.operands[k] = operand_record(view, dtype, output);
    record.operand_count = static_cast<std::uint16_t>(k + 1);
    record.output_count = static_cast<std::uint16_t>(record.output_count + (output ? 1 : 0));
    for (int d = 0; d < program::kMaxTileRank; ++d) record.extents[d] = static_cast<std::int32_t>(view.sizes[d]);
    call.operands.push_back(info_of(record.operands[k]));
    call.operands.back().rank = whole.rank();
    views.push_back(std::move(view));
  }
};

std::string box_text(const Touch& touch) {
  return fmt::format("[{}:{}, {}:{}, {}:{}, {}:{}]", touch.lo[0], touch.hi[0], touch.lo[1], touch.hi[1], touch.lo[2],
                     touch.hi[2], touch.lo[3], touch.hi[3]);
}

/// Of one call of `touches`: every box lies in its operand. Throws UserError.
void expect_inside(const std::string& who, const std::vector<OperandInfo>& operands,
                   const std::vector<Touch>& touches) {
  for (const Touch& touch : touches) {
    if (touch.operand < 0 || touch.operand >= static_cast<int>(operands.size()))
      throw UserError(fmt::format("{} touches operand {}; there are {}", who, touch.operand, operands.size()));
    const OperandInfo& operand = operands[static_cast<std::size_t>(touch.operand)];
    for (int d = 0; d < program::kMaxTileRank; ++d)
      if (touch.lo[d] < 0 || touch.hi[d] < touch.lo[d] || touch.hi[d] > operand.sizes[d])
        throw UserError(fmt::format("{} {} {} of operand {}, outside its sizes {}", who,
                                    operand.output ? "writes" : "reads", box_text(touch), touch.operand,
                                    ir::to_string(ir::Extents(operand.sizes.begin(), operand.sizes.end()))));
  }
}

/// Windows begin at words 0 and 1: where they leave an operand, the device would leave the tensor. Throws UserError.
void expect_position(const std::string& who, const std::vector<OperandInfo>& operands,
                     const std::vector<std::int32_t>& index) {
  if (index.size() < 2 || index.size() > program::kMaxIndices)
    throw UserError(
        fmt::format("{} has {} index words; 2 to {} are possible", who, index.size(), program::kMaxIndices));
  for (std::size_t d = 0; d < 2; ++d)
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (const std::int64_t size = operands[k].sizes[d]; index[d] < 0 || (size > 1 && index[d] >= size))
        throw UserError(
            fmt::format("{} has index word {} at {}, operand {} has size {} there", who, d, index[d], k, size));
}

class UserPlan final : public NodePlan {
 public:
  UserPlan(const UserType& type, Shown shown, std::string what)
      : type_(type), operands_(std::move(shown.call.operands)), what_(std::move(what)) {
    record = shown.record;
    views = std::move(shown.views);
    icode = type.device_half().icode;
  }

  void take(const TypePlan& plan) {
    tiles_ = plan.tiles;
    count = static_cast<std::int64_t>(tiles_.size());
    cost = {.bytes = plan.bytes, .operations = plan.operations};
    if (plan.constants.size() > program::kMaxConstants)
      throw UserError(
          fmt::format("{} has {} constants; {} are possible", what_, plan.constants.size(), program::kMaxConstants));
    record.constant_count = static_cast<std::uint16_t>(plan.constants.size());
    std::ranges::copy(plan.constants, record.constants);
    for (std::size_t i = 0; i < tiles_.size(); ++i)
      expect_position(fmt::format("{}, instruction {},", what_, i), operands_, tiles_[i]);
  }

  InstructionPlan instruction(std::int64_t i) const override {
    const std::vector<std::int32_t>& index = tiles_[static_cast<std::size_t>(i)];
    const std::vector<Touch> touches = type_.touches(operands_, index);
    expect_inside(fmt::format("{}, instruction {},", what_, i), operands_, touches);
    InstructionPlan plan{.index = index, .reads = {}, .writes = {}};
    for (const Touch& touch : touches) {
      const ir::Box box{.lo = ir::Extents(touch.lo.begin(), touch.lo.end()),
                        .hi = ir::Extents(touch.hi.begin(), touch.hi.end())};
      const bool output = operands_[static_cast<std::size_t>(touch.operand)].output;
      (output ? plan.writes : plan.reads).push_back({.operand = touch.operand, .box = box});
    }
    return plan;
  }

 private:
  const UserType& type_;
  std::vector<OperandInfo> operands_;
  std::string what_;
  std::vector<std::vector<std::int32_t>> tiles_;
};

}  // namespace

template <class F>
auto UserType::ask(const char* method, F&& f) const {
  std::string problem = "it throws what is no std::exception";
  try {
    return f();
  } catch (const Error&) {
    throw;
  } catch (const Interruption&) {
    throw;
  } catch (const std::exception& error) {
    problem = error.what();
  } catch (...) {  // NOLINT(bugprone-empty-catch): said below
  }
  throw UserError(fmt::format("{}() of instruction type '{}' failed: {}", method, half_.name, problem));
}

std::vector<Touch> UserType::touches(const std::vector<OperandInfo>& operands,
                                     const std::vector<std::int32_t>& index) const {
  return ask("touches", [&] { return host_->touches(operands, index); });
}

std::vector<Example> UserType::examples() const {
  return ask("examples", [&] { return host_->examples(); });
}

std::string target_of_operation(const std::string& operation) {
  std::string target = operation;
  if (const std::size_t colons = target.find("::"); colons != std::string::npos) {
    target[colons] = '.';
    target.erase(colons + 1, 1);
  }
  return std::ranges::count(target, '.') == 1 ? target + ".default" : target;
}

UserType::UserType(std::shared_ptr<megakittens::InstructionType> host) : host_(std::move(host)) {
  half_.name = host_->name();
  if (!is_name(half_.name))
    throw UserError(
        fmt::format("'{}' is no name for an instruction type: it takes lower-case letters, digits and "
                    "underscores, a letter first",
                    half_.name));
  half_.structure = structure_name(half_.name);
  target_ = target_of_operation(host_->operation());
  if (std::ranges::count(target_, '.') != 2)
    throw UserError(fmt::format("instruction type '{}': '{}' names no operation; one is called like 'mylib::rms_norm'",
                                half_.name, host_->operation()));
  half_.path = std::filesystem::absolute(host_->device_half());
  try {
    half_.hash = hash_of_device_half(half_.path);
  } catch (const UserError& error) {
    throw UserError(fmt::format("the device half of instruction type '{}': {}", half_.name, error.what()));
  }
  fingerprint_ = Hasher().add(half_.name).add(target_).add(half_.hash).digest().hex();
}

std::optional<std::string> UserType::unsuited(const ir::Graph& graph, const ir::Node& node,
                                              const PlanOptions& options) const {
  const Shown shown(graph, node, options.config.sms);
  std::optional<std::string> reason =
      shown.problem ? shown.problem : ask("unsuited", [&] { return host_->unsuited(shown.call); });
  if (!reason) return std::nullopt;
  return fmt::format("{}: {}", half_.name, *reason);
}

std::unique_ptr<NodePlan> UserType::plan(const ir::Graph& graph, const ir::Node& node,
                                         const PlanOptions& options) const {
  Shown shown(graph, node, options.config.sms);
  MK_CHECK(!shown.problem, "{}: {}", graph.describe(node), *shown.problem);
  const Call call = shown.call;
  auto plan = std::make_unique<UserPlan>(*this, std::move(shown),
                                         fmt::format("instruction type '{}' on {}", half_.name, graph.describe(node)));
  const bool nothing = std::ranges::all_of(
      call.operands, [](const OperandInfo& o) { return !o.output || std::ranges::count(o.sizes, 0) > 0; });
  if (!nothing) plan->take(ask("plan", [&] { return host_->plan(call); }));
  return plan;
}

std::vector<Region> UserType::regions(const program::NodeRecord& record,
                                      const program::Instruction& instruction) const {
  std::vector<OperandInfo> operands;
  for (int k = 0; k < record.operand_count; ++k) operands.push_back(info_of(record.operands[k]));
  const std::string who = fmt::format("instruction type '{}', instruction {},", half_.name, instruction.number);
  const std::vector<std::int32_t> index(instruction.index, instruction.index + instruction.index_count);
  expect_position(who, operands, index);
  const std::vector<Touch> touches = this->touches(operands, index);
  expect_inside(who, operands, touches);
  std::vector<Region> regions;
  for (const Touch& touch : touches) {
    const program::OperandRecord& operand = record.operands[touch.operand];
    Region& region = regions.emplace_back();
    region.storage = operand.storage;
    region.operand = touch.operand;
    region.write = (operand.flags & program::kOperandOutput) != 0;
    region.type = static_cast<program::ElementType>(operand.type);
    region.offset = operand.offset;
    for (int d = 0; d < program::kMaxTileRank; ++d) {
      const std::int64_t size = touch.hi[d] - touch.lo[d];
      region.offset += touch.lo[d] * operand.strides[d];
      region.sizes.push_back(operand.strides[d] == 0 ? std::min<std::int64_t>(size, 1) : size);
      region.strides.push_back(operand.strides[d]);
    }
  }
  return regions;
}

std::vector<std::vector<float>> UserType::reference(const ir::Graph& graph, const ir::Node& node,
                                                    const std::vector<std::vector<float>>& inputs) const {
  const Shown shown(graph, node, 1);
  if (shown.problem)
    throw UnsupportedError(fmt::format("{}: {}: {}", graph.describe(node), half_.name, *shown.problem));
  std::vector<std::vector<float>> outputs = ask("reference", [&] { return host_->reference(shown.call, inputs); });
  if (outputs.size() != node.outputs.size())
    throw UserError(fmt::format("the reference of instruction type '{}' gives {} results for {}, which has {}",
                                half_.name, outputs.size(), graph.describe(node), node.outputs.size()));
  for (std::size_t k = 0; k < outputs.size(); ++k)
    if (const ir::View& view = shown.views[node.operands.size() + k];
        static_cast<std::int64_t>(outputs[k].size()) != view.elements())
      throw UserError(
          fmt::format("the reference of instruction type '{}' gives {} values as result {} of {}, which has {}",
                      half_.name, outputs[k].size(), k, graph.describe(node), view.elements()));
  return outputs;
}

}  // namespace megakittens::ops
