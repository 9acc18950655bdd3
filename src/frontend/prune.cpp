#include "frontend/prune.hpp"

namespace megakittens::frontend {

bool has_effect(std::string_view target) {
  if (target.starts_with("higher_order.auto_functionalized")) return true;
  // aten's writing overloads end their name in one underscore: aten.copy_.default.
  std::size_t dot = target.rfind('.');
  if (!target.starts_with("aten.") || dot == std::string_view::npos || dot == 0) return false;
  return target[dot - 1] == '_' && target[dot - 2] != '_';
}

std::vector<bool> live_nodes(const fx::Module& module, const std::vector<std::string>& targets) {
  std::vector<bool> live(module.nodes.size(), false);
  for (std::size_t i = module.nodes.size(); i-- > 0;) {
    const fx::Node& node = module.nodes[i];
    if (node.op == fx::OpKind::output || node.op == fx::OpKind::placeholder || has_effect(targets[i])) live[i] = true;
    if (!live[i]) continue;
    fx::for_each_input(node, [&](fx::NodeRef ref) { live[static_cast<std::size_t>(ref.index)] = true; });
  }
  return live;
}

std::vector<std::vector<int>> users_of(const fx::Module& module, const std::vector<bool>& live) {
  std::vector<std::vector<int>> users(module.nodes.size());
  for (std::size_t i = 0; i < module.nodes.size(); ++i) {
    if (!live[i]) continue;
    fx::for_each_input(module.nodes[i], [&](fx::NodeRef ref) {
      std::vector<int>& list = users[static_cast<std::size_t>(ref.index)];
      if (list.empty() || list.back() != static_cast<int>(i)) list.push_back(static_cast<int>(i));
    });
  }
  return users;
}

}  // namespace megakittens::frontend
