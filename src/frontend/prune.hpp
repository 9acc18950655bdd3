// Which nodes of an FX graph matter, and how their results alias.
#pragma once

#include <string_view>
#include <vector>

#include "frontend/fx/module.hpp"

namespace megakittens::frontend {

/// PyTorch's names in one form: methods, functions of `torch` and `operator`, and module classes become the aten
/// overload that does the same ("torch.relu", "relu", "torch.nn.modules.activation.ReLU" -> "aten.relu.default").
/// A target without an equivalent is returned as it is.
std::string canonical_target(const fx::Node& node);

/// The call writes into an argument, so that it matters even when nobody reads its result.
bool has_effect(std::string_view target);

/// True for each node that the output or a node with an effect needs; placeholders always stay.
std::vector<bool> live_nodes(const fx::Module& module, const std::vector<std::string>& targets);

/// For each node, who reads it.
std::vector<std::vector<int>> users_of(const fx::Module& module, const std::vector<bool>& live);

}  // namespace megakittens::frontend
