// PyTorch's many names for one operation.
#include <array>
#include <unordered_map>

#include "frontend/prune.hpp"

namespace megakittens::frontend {
namespace {

using Table = std::unordered_map<std::string_view, std::string_view>;

/// Methods, and functions of `torch`, `torch.nn.functional` and `operator` under their last name.
const Table& plain_names() {
  static const Table table{
      {"add", "aten.add.Tensor"},
      {"sub", "aten.sub.Tensor"},
      {"subtract", "aten.sub.Tensor"},
      {"mul", "aten.mul.Tensor"},
      {"multiply", "aten.mul.Tensor"},
      {"div", "aten.div.Tensor"},
      {"truediv", "aten.div.Tensor"},
      {"pow", "aten.pow.Tensor_Scalar"},
      {"neg", "aten.neg.default"},
      {"abs", "aten.abs.default"},
      {"exp", "aten.exp.default"},
      {"exp2", "aten.exp2.default"},
      {"log", "aten.log.default"},
      {"log2", "aten.log2.default"},
      {"sqrt", "aten.sqrt.default"},
      {"rsqrt", "aten.rsqrt.default"},
      {"reciprocal", "aten.reciprocal.default"},
      {"square", "aten.square.default"},
      {"relu", "aten.relu.default"},
      {"gelu", "aten.gelu.default"},
      {"silu", "aten.silu.default"},
      {"sigmoid", "aten.sigmoid.default"},
      {"tanh", "aten.tanh.default"},
      {"maximum", "aten.maximum.default"},
      {"minimum", "aten.minimum.default"},
      {"clamp", "aten.clamp.default"},
      {"clip", "aten.clamp.default"},
      {"eq", "aten.eq.Tensor"},
      {"ne", "aten.ne.Tensor"},
      {"lt", "aten.lt.Tensor"},
      {"le", "aten.le.Tensor"},
      {"gt", "aten.gt.Tensor"},
      {"ge", "aten.ge.Tensor"},
      {"where", "aten.where.self"},
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
  return found == plain_names().end() ? node.target : std::string(found->second);
}

}  // namespace megakittens::frontend
