// PyTorch's many names for one operation.
#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "frontend/prune.hpp"
#include "ir/pointwise.hpp"

namespace megakittens::frontend {
namespace {

using Table = std::unordered_map<std::string_view, std::string>;

/// Methods, and functions of `torch`, `torch.nn.functional` and `operator` under their last name: those that have a row
/// in ir/operations.def are called as the row's first overload.
const Table& plain_names() {
  static const Table table = [] {
    Table names{
        {"add", "aten.add.Tensor"},
        {"sub", "aten.sub.Tensor"},
        {"subtract", "aten.sub.Tensor"},
        {"multiply", "aten.mul.Tensor"},
        {"truediv", "aten.div.Tensor"},
        {"pow", "aten.pow.Tensor_Scalar"},
        {"square", "aten.square.default"},
        {"gelu", "aten.gelu.default"},
        {"clamp", "aten.clamp.default"},
        {"clip", "aten.clamp.default"},
        {"masked_fill", "aten.masked_fill.Scalar"},
        {"mm", "aten.mm.default"},
        {"bmm", "aten.bmm.default"},
        {"matmul", "aten.matmul.default"},
        {"mv", "aten.mv.default"},
        {"addmm", "aten.addmm.default"},
        {"baddbmm", "aten.baddbmm.default"},
        {"linear", "aten.linear.default"},
        {"to", "aten._to_copy.default"},
        {"float", "aten._to_copy.default"},
        {"half", "aten._to_copy.default"},
        {"bfloat16", "aten._to_copy.default"},
        {"clone", "aten.clone.default"},
        {"contiguous", "aten.contiguous.default"},
        {"detach", "aten.detach.default"},
        {"t", "aten.t.default"},
        {"transpose", "aten.transpose.int"},
        {"swapaxes", "aten.transpose.int"},
        {"permute", "aten.permute.default"},
        {"unsqueeze", "aten.unsqueeze.default"},
        {"squeeze", "aten.squeeze.default"},
        {"expand", "aten.expand.default"},
        {"view", "aten.view.default"},
        {"reshape", "aten.reshape.default"},
        {"flatten", "aten.flatten.using_ints"},
        {"unflatten", "aten.unflatten.int"},
        {"select", "aten.select.int"},
        {"narrow", "aten.narrow.default"},
        {"split", "aten.split.Tensor"},
        {"chunk", "aten.chunk.default"},
        {"unbind", "aten.unbind.int"},
        {"diagonal", "aten.diagonal.default"},
        {"getitem", "operator.getitem"},
    };
    for (const ir::PointwiseOperation& operation : ir::pointwise_operations()) {
      const std::string_view first = operation.aten.substr(0, operation.aten.find(' '));
      const std::string_view name = first.substr(0, first.find('.'));
      if (!name.empty()) names.emplace(name, fmt::format("aten.{}{}", first, name == first ? ".default" : ""));
    }
    return names;
  }();
  return table;
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kModules{{
    {"torch.nn.modules.activation.ReLU", "aten.relu.default"},
    {"torch.nn.modules.activation.SiLU", "aten.silu.default"},
    {"torch.nn.modules.activation.GELU", "aten.gelu.default"},
    {"torch.nn.modules.activation.Sigmoid", "aten.sigmoid.default"},
    {"torch.nn.modules.activation.Tanh", "aten.tanh.default"},
    {"torch.nn.modules.linear.Identity", "aten.alias.default"},
    {"torch.nn.modules.dropout.Dropout", "aten.alias.default"},
    {"torch.nn.modules.flatten.Flatten", "aten.flatten.using_ints"},
    {"torch.nn.modules.linear.Linear", "aten.linear.default"},
}};

}  // namespace

std::string canonical_target(const fx::Node& node) {
  std::string_view target = node.target;
  if (node.op == fx::OpKind::call_module) {
    for (const auto& [name, same] : kModules)
      if (name == target) return std::string(same);
    return node.target;
  }
  if (node.op == fx::OpKind::call_function) {
    // Overloads of custom operations, and functions of other modules, have names of their own.
    bool known_module = false;
    for (std::string_view module : {"torch.", "torch.nn.functional.", "torch._C._nn.", "_operator.", "operator."})
      if (target.starts_with(module) && target.find('.', module.size()) == std::string_view::npos) {
        target.remove_prefix(module.size());
        known_module = true;
        break;
      }
    if (!known_module) return node.target;
  } else if (node.op != fx::OpKind::call_method) {
    return node.target;
  }
  auto found = plain_names().find(target);
  return found == plain_names().end() ? node.target : found->second;
}

}  // namespace megakittens::frontend
