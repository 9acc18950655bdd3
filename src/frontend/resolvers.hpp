// From an operation's name to what makes nodes of it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/context.hpp"

namespace megakittens::frontend {

/// Results of a call, one symbol a result of the FX node. Throws NotResolved, before it has emitted anything, where it
/// does not take the call.
using Resolver = Results (*)(const Call&);
/// By aten overload, most specific resolver first.
using ResolverTable = std::map<std::string, std::vector<Resolver>, std::less<>>;

const ResolverTable& resolvers();
void add_view_resolvers(ResolverTable& table);
void add_constant_resolvers(ResolverTable& table);
void add_pointwise_resolvers(ResolverTable& table);
void add_product_resolvers(ResolverTable& table);
void add_mutation_resolvers(ResolverTable& table);

/// The view that as_strided and as_strided_scatter speak of: sizes, strides and offset over the storage of argument 0,
/// from argument `first` on. Throws NotResolved where our storage is not laid out as PyTorch's.
ir::View strided_view(const Call& call, const ir::View& from, std::size_t first);
ir::View diagonal_view(const ir::View& view, std::int64_t offset, std::int64_t first, std::int64_t second);

/// The results of an operation that instruction types will give, where that is fewer than PyTorch has
/// (_fused_rms_norm: only 0); empty where all are kept.
std::vector<int> kept_results(std::string_view target);

/// Keeps an argument that is a number, a flag, a text or a list of whole numbers.
void keep_argument(ir::Call& call, const std::string& name, const fx::Argument& argument);

/// The node that no resolver took, with the reason.
Results make_call(const Call& call, const std::string& why);

}  // namespace megakittens::frontend
