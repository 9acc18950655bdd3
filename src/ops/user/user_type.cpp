#include "ops/user/user_type.hpp"

#include <algorithm>
#include <filesystem>

#include "ops/common/merge.hpp"
#include "ops/pointwise/compile.hpp"
#include "ops/user/arguments.hpp"
#include "support/error.hpp"
#include "support/hash.hpp"

namespace megakittens::ops {
namespace {

using megakittens::BulkMap;
using megakittens::Call;
using megakittens::OperandInfo;
using megakittens::Touch;

constexpr std::uint32_t kMostBox = 256;
constexpr auto kMostSwizzle = static_cast<std::uint32_t>(Swizzle::b128);
static_assert(kMostSwizzle == static_cast<std::uint32_t>(program::Swizzle::b128));

bool is_name(const std::string& name) {
  auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name[0] >= 'a' && name[0] <= 'z' && std::ranges::all_of(name, good);
}

/// At least four dimensions, ones in front; a dimension of size 1 is never walked.
ir::View with_ones(ir::View view) {
  while (view.rank() < program::kMaxTileRank) view = view.unsqueeze(0);
  for (int d = 0; d < view.rank(); ++d)
    if (view.sizes[d] == 1) view.strides[d] = 0;
  return view;
}

/// The node's operands and outputs in a record, what the type sees of them, and why it cannot be shown them, if so.
struct Shown {
  Call call;
  std::vector<ir::View> views;  ///< of all operands
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
    if (problem) return;
    record.parameters[kUserBody] = static_cast<std::int32_t>(node.operands.size()) - ir::first_body_operand(node);
    call.operands = operands_of(record);
    for (std::size_t k = 0; k < views.size(); ++k) {
      call.operands[k].rank = ranks_[k];
      call.operands[k].bulk = bulk_[k];
    }
    call.operands = BodyOperands(record).without(std::move(call.operands));
    call.sms = sms;
    call.arguments = ir::call_of(node)->arguments;
  }

 private:
  void add(const ir::View& whole, ir::DType dtype, bool output) {
    if (problem) return;
    ir::View view = with_ones(whole);
    for (std::int64_t size : view.sizes)
      if (size > program::kMaxExtent)
        problem = fmt::format("a dimension of {} elements is over the limit of {}", size, program::kMaxExtent);
    if (!problem) problem = add_operand(record, view, dtype, output);
    if (problem) return;
    ranks_.push_back(whole.rank());
    bulk_.push_back(view.rank() == program::kMaxTileRank && view.elements() > 0 &&
                    (output ? bulk_storable(view, dtype) : bulk_suited(view, dtype)));
    views.push_back(std::move(view));
  }

  std::vector<int> ranks_;
  std::vector<bool> bulk_;
};

/// The code that a type with epilogues runs on its result, with constants of its own alone; or why there is none.
std::variant<Code, std::string> epilogue_code(const ir::Graph& graph, const ir::Node& node) {
  if (node.outputs.size() != 1)
    return fmt::format("its type takes epilogues, so that a call has one result; this one has {}", node.outputs.size());
  const ir::DType dtype = graph.value(node.outputs[0]).tensor.dtype;
  if (std::optional<std::string> problem = unsuited_result(dtype)) return *problem;
  auto code =
      compile_pointwise(epilogue_of(node), 0, static_cast<int>(node.operands.size()), {dtype}, kUserTemporaries);
  constexpr std::size_t kMost = program::kMaxConstants - kUserOwnConstants;
  if (const auto* made = std::get_if<Code>(&code); made != nullptr && made->constants.size() > kMost)
    return fmt::format("the operations fused behind it have {} constants, the limit is {}", made->constants.size(),
                       kMost);
  return code;
}

std::string box_text(const Touch& touch) {
  std::string text;
  for (std::size_t d = 0; d < touch.lo.size(); ++d)
    text += fmt::format("{}{}:{}", d == 0 ? "" : ", ", touch.lo[d], touch.hi[d]);
  return "[" + text + "]";
}

/// Of one call of `touches`: every box lies in its operand. Throws UserError.
void expect_inside(const std::string& who, const std::vector<OperandInfo>& operands,
                   const std::vector<Touch>& touches) {
  for (const Touch& touch : touches) {
    if (touch.operand < 0 || touch.operand >= static_cast<int>(operands.size()))
      throw UserError(fmt::format("{} touches operand {}; there are {}", who, touch.operand, operands.size()));
    const OperandInfo& operand = operands[static_cast<std::size_t>(touch.operand)];
    const std::size_t rank = operand.sizes.size();
    if (touch.lo.size() != rank || touch.hi.size() != rank)
      throw UserError(fmt::format("{} touches a box of {} and {} dimensions of operand {}, which has {}", who,
                                  touch.lo.size(), touch.hi.size(), touch.operand, rank));
    for (std::size_t d = 0; d < rank; ++d)
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

/// `number`: the record's, of the operand.
program::TensorMapDescription description_of(const program::OperandRecord& operand, int number, const BulkMap& wanted) {
  const ir::View view{.offset = operand.offset,
                      .sizes = {std::begin(operand.sizes), std::end(operand.sizes)},
                      .strides = {std::begin(operand.strides), std::end(operand.strides)}};
  return tensor_map(view, type_of(operand), number, wanted.columns, wanted.rows,
                    static_cast<program::Swizzle>(wanted.swizzle));
}

/// Why there is no such map, or empty.
Fault bulk_fault(const std::vector<OperandInfo>& operands, const BulkMap& wanted) {
  const auto k = static_cast<std::size_t>(wanted.operand);
  if (k >= operands.size())
    return fmt::format("a tensor map is wanted of operand {}; there are {}", wanted.operand, operands.size());
  if (!operands[k].bulk)
    return fmt::format(
        "a tensor map is wanted of operand {}, which is not 'bulk': refuse the call in unsuited(), or "
        "move it by ordinary accesses",
        k);
  const auto swizzle = static_cast<std::uint32_t>(wanted.swizzle);
  const std::uint32_t row = wanted.columns * program::size_of(static_cast<program::ElementType>(operands[k].dtype));
  if (wanted.rows - 1 >= kMostBox || wanted.columns - 1 >= kMostBox || row % 16 != 0 || swizzle > kMostSwizzle ||
      (swizzle > 0 && row > 16u << swizzle))
    return fmt::format(
        "the tensor map of operand {} has a box of {} x {} elements: each is 1 to {}, a row a multiple of "
        "16 bytes and at most the swizzle's",
        k, wanted.rows, wanted.columns, kMostBox);
  return std::nullopt;
}

/// Why the record's code is none that the type may be given.
Fault epilogue_fault(const program::NodeRecord& record, bool takes_epilogue) {
  const BodyOperands body(record);
  if (!takes_epilogue) {
    if (record.code_count > 0) return fmt::format("{} words of code, which it does not run", record.code_count);
    if (body.first != body.end) return fmt::format("{} operands for code", body.end - body.first);
    return std::nullopt;
  }
  if (record.output_count != 1) return fmt::format("{} outputs, and its code writes one", record.output_count);
  const std::vector<OperandInfo> operands = operands_of(record);
  const OperandInfo& output = operands.back();
  if (unsuited_result(static_cast<ir::DType>(output.dtype)))
    return fmt::format("its code cannot write {} values", ir::name_of(static_cast<ir::DType>(output.dtype)));
  for (int k = body.first; k < body.end; ++k)
    if (const OperandInfo& operand = operands[static_cast<std::size_t>(k)]; operand.sizes != output.sizes)
      return fmt::format("operand {}, which its code reads, has another shape than its output", k);
  return code_fault(record, body.first, kUserTemporaries);
}

class UserPlan final : public NodePlan {
 public:
  UserPlan(const UserType& type, Shown shown, std::string what)
      : type_(type), operands_(std::move(shown.call.operands)), body_(shown.record), what_(std::move(what)) {
    record = shown.record;
    views = std::move(shown.views);
    icode = type.device_half().icode;
  }

  /// `code`: what runs on the type's results; empty where it takes no epilogues.
  void take(const TypePlan& plan, Code code) {
    tiles_ = plan.tiles;
    count = static_cast<std::int64_t>(tiles_.size());
    cost = {.bytes = plan.bytes, .operations = plan.operations};
    const std::size_t most = type_.takes_epilogue() ? kUserOwnConstants : program::kMaxConstants;
    if (plan.constants.size() > most)
      throw UserError(fmt::format("{} has {} constants; {} are possible", what_, plan.constants.size(), most));
    constexpr std::uint64_t kMostClocks = std::uint64_t{1} << 48;
    if (plan.clocks > kMostClocks)
      throw UserError(fmt::format("{} takes {} clocks; {} are possible", what_, plan.clocks, kMostClocks));
    set_clocks(record, plan.clocks);
    take_code(plan.constants, std::move(code));
    for (std::size_t i = 0; i < tiles_.size(); ++i)
      expect_position(fmt::format("{}, instruction {},", what_, i), operands_, tiles_[i]);
    for (const BulkMap& wanted : type_.maps(operands_)) {
      if (Fault fault = bulk_fault(operands_, wanted)) throw UserError(fmt::format("{}: {}", what_, *fault));
      const int number = body_.number(wanted.operand);
      program::OperandRecord& operand = record.operands[number];
      if (is_mapped(operand)) throw UserError(fmt::format("{}: operand {} has two maps", what_, wanted.operand));
      operand.map = static_cast<std::uint16_t>(maps.size());
      operand.flags |= program::kOperandBulk;
      maps.push_back(description_of(operand, number, wanted));
    }
  }

  /// The code's constants follow the type's own.
  void take_code(const std::vector<float>& own, Code code) {
    for (program::CodeWord& word : code.words)
      if (word.source >= program::kSourceConstant && word.source != program::kNoSource)
        word.source = static_cast<std::uint8_t>(word.source + own.size());
    code.constants.insert(code.constants.begin(), own.begin(), own.end());
    set_code(record, code);
  }

  InstructionPlan instruction(std::int64_t i) const override {
    const std::vector<std::int32_t>& index = tiles_[static_cast<std::size_t>(i)];
    const std::vector<Touch> touches = type_.touches(operands_, index);
    expect_inside(fmt::format("{}, instruction {},", what_, i), operands_, touches);
    InstructionPlan plan{.index = index};
    for (const Touch& touch : touches) {
      const ir::Box box{.lo = ir::Extents(touch.lo.begin(), touch.lo.end()),
                        .hi = ir::Extents(touch.hi.begin(), touch.hi.end())};
      const bool output = operands_[static_cast<std::size_t>(touch.operand)].output;
      (output ? plan.writes : plan.reads).push_back({.operand = body_.number(touch.operand), .box = box});
      // The body's operands have the output's shape, and are read where it is written.
      for (int k = body_.first; output && k < body_.end; ++k) plan.reads.push_back({.operand = k, .box = box});
    }
    return plan;
  }

 private:
  const UserType& type_;
  std::vector<OperandInfo> operands_;  // without the body's
  BodyOperands body_;
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

std::vector<BulkMap> UserType::maps(const std::vector<OperandInfo>& operands) const {
  return ask("maps", [&] { return host_->maps(operands); });
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
  takes_epilogue_ = ask("takes_epilogue", [&] { return host_->takes_epilogue(); });
  Hasher hasher;
  hasher.add(half_.name).add(target_).add(half_.hash);
  if (takes_epilogue_) hasher.add("takes epilogues");
  fingerprint_ = hasher.digest().hex();
}

std::optional<std::string> UserType::unsuited(const ir::Graph& graph, const ir::Node& node,
                                              const PlanOptions& options) const {
  const Shown shown(graph, node, options.config.sms);
  std::optional<std::string> reason =
      shown.problem ? shown.problem : ask("unsuited", [&] { return host_->unsuited(shown.call); });
  if (!reason && takes_epilogue_) {
    const auto code = epilogue_code(graph, node);
    if (const auto* problem = std::get_if<std::string>(&code)) reason = *problem;
  } else if (!reason && node.body) {
    reason = "it takes no epilogue, and operations are fused behind the call";
  }
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
  Code code;
  if (takes_epilogue_) code = std::get<Code>(epilogue_code(graph, node));
  if (nothing)
    plan->take_code({}, std::move(code));
  else
    plan->take(ask("plan", [&] { return host_->plan(call); }), std::move(code));
  return plan;
}

std::optional<std::string> UserType::record_fault(const program::Program& program, const program::NodeRecord& record,
                                                  std::uint16_t) const {
  if (Fault fault = middle_fault(program, record)) return fault;
  if (Fault fault = epilogue_fault(record, takes_epilogue_)) return fault;
  const BodyOperands body(record);
  const std::vector<OperandInfo> operands = body.without(operands_of(record));
  std::vector<bool> named(record.operand_count, false);
  for (const BulkMap& wanted : maps(operands)) {
    if (Fault fault = bulk_fault(operands, wanted)) return fault;
    const int number = body.number(wanted.operand);
    named[static_cast<std::size_t>(number)] = true;
    const MapShape shape{.box = {wanted.columns, wanted.rows},
                         .swizzle = static_cast<program::Swizzle>(wanted.swizzle)};
    if (Fault fault = map_fault(program, record, number, shape)) return fault;
  }
  for (int k = 0; k < record.operand_count; ++k)
    if (is_mapped(record.operands[k]) && !named[static_cast<std::size_t>(k)])
      return fmt::format("operand {} has a tensor map that the type does not ask for", k);
  return std::nullopt;
}

std::uint64_t UserType::most_clocks(const program::NodeRecord& record, const program::Instruction&) const {
  return clocks_of(record);
}

std::vector<Region> UserType::regions(const program::NodeRecord& record,
                                      const program::Instruction& instruction) const {
  const std::vector<OperandInfo> all = operands_of(record);
  const BodyOperands body(record);
  const std::vector<OperandInfo> operands = body.without(all);
  const std::string who = fmt::format("instruction type '{}', instruction {},", half_.name, instruction.number);
  const std::vector<std::int32_t> index(instruction.index, instruction.index + instruction.index_count);
  expect_position(who, operands, index);
  const std::vector<Touch> touches = this->touches(operands, index);
  expect_inside(who, operands, touches);
  std::vector<Region> regions;
  auto add = [&](int number, const Touch& touch) {
    const program::OperandRecord& operand = record.operands[number];
    Region& region = regions.emplace_back();
    region.storage = operand.storage;
    region.operand = number;
    region.write = is_output(record, number);
    region.type = type_of(operand);
    region.offset = operand.offset;
    const Extents& strides = all[static_cast<std::size_t>(number)].strides;
    for (std::size_t d = 0; d < strides.size(); ++d) {
      const std::int64_t size = touch.hi[d] - touch.lo[d];
      region.offset += touch.lo[d] * strides[d];
      region.sizes.push_back(strides[d] == 0 ? std::min<std::int64_t>(size, 1) : size);
      region.strides.push_back(strides[d]);
    }
  };
  for (const Touch& touch : touches) {
    const int number = body.number(touch.operand);
    add(number, touch);
    // The code reads its operands where it writes its output: see epilogue_fault.
    for (int k = body.first; is_output(record, number) && k < body.end; ++k) add(k, touch);
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
