// Calls that only look at a tensor in another way: they become part of the edges of those who read them.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/resolvers.hpp"
#include "support/error.hpp"

namespace megakittens::frontend {
namespace {

constexpr std::int64_t kToTheEnd = INT64_MAX;

/// What is left of the input's view, for tensors; a constant stays a constant of the result's shape.
template <typename Map>
Results view_of(const Call& call, Map&& map) {
  int source = call.node_at(0, "self");
  const Results& results = call.context().results(source);
  if (results.size() != 1) throw NotResolved("the argument is not one tensor");
  call.context().set_owner(call.index(), call.context().owner(source));
  if (const auto* constant = std::get_if<ConstantSymbol>(&results[0]))
    return {ConstantSymbol{constant->value, constant->dtype, call.meta().shape}};
  TensorSymbol symbol = call.tensor(0, "self");
  try {
    symbol.view = map(symbol.view);
  } catch (const UserError& error) {
    throw NotResolved(error.what());
  }
  return {symbol};
}

int dim_of(std::int64_t dim) {
  if (dim < -64 || dim > 64) throw NotResolved(fmt::format("dimension {}", dim));
  return static_cast<int>(dim);
}

Results resolve_alias(const Call& call) {
  return view_of(call, [](const ir::View& view) { return view; });
}

Results resolve_select(const Call& call) {
  return view_of(call,
                 [&](const ir::View& v) { return v.select(dim_of(call.integer(1, "dim")), call.integer(2, "index")); });
}

Results resolve_slice(const Call& call) {
  return view_of(call, [&](const ir::View& view) {
    return view.slice(dim_of(call.integer(1, "dim", 0)), call.integer(2, "start", 0), call.integer(3, "end", kToTheEnd),
                      call.integer(4, "step", 1));
  });
}

Results resolve_narrow(const Call& call) {
  return view_of(call, [&](const ir::View& view) {
    std::int64_t start = call.integer(2, "start");
    int dim = dim_of(call.integer(1, "dim"));
    if (start < 0) start += view.sizes.at(static_cast<std::size_t>(dim < 0 ? dim + view.rank() : dim));
    return view.slice(dim, start, start + call.integer(3, "length"));
  });
}

Results resolve_t(const Call& call) {
  return view_of(call, [](const ir::View& view) { return view.rank() < 2 ? view : view.transpose(0, 1); });
}

Results resolve_transpose(const Call& call) {
  return view_of(call, [&](const ir::View& view) {
    return view.transpose(dim_of(call.integer(1, "dim0")), dim_of(call.integer(2, "dim1")));
  });
}

Results resolve_permute(const Call& call) {
  return view_of(call, [&](const ir::View& view) { return view.permute(call.integers(1, "dims")); });
}

Results resolve_expand(const Call& call) {
  return view_of(call, [&](const ir::View& view) { return view.expand(call.integers(1, "size")); });
}

Results resolve_unsqueeze(const Call& call) {
  return view_of(call, [&](const ir::View& view) { return view.unsqueeze(dim_of(call.integer(1, "dim"))); });
}

Results resolve_squeeze(const Call& call) {
  return view_of(call, [&](const ir::View& view) {
    std::vector<bool> drop(view.sizes.size(), call.find(1, "dim") == nullptr);
    if (call.find(1, "dim") != nullptr)
      for (std::int64_t dim : call.integers(1, "dim"))
        drop.at(static_cast<std::size_t>(dim < 0 ? dim + view.rank() : dim)) = true;
    ir::View result = view;
    for (int d = view.rank() - 1; d >= 0; --d)
      if (drop[static_cast<std::size_t>(d)]) result = result.squeeze(d);
    return result;
  });
}

ir::View diagonal(const ir::View& view, std::int64_t offset, std::int64_t first, std::int64_t second) {
  auto wrap = [&](std::int64_t dim) { return static_cast<std::size_t>(dim < 0 ? dim + view.rank() : dim); };
  std::size_t a = wrap(first);
  std::size_t b = wrap(second);
  if (a == b) throw NotResolved("diagonal of one dimension");
  ir::View result = view;
  std::int64_t rows = view.sizes.at(a) - std::max<std::int64_t>(-offset, 0);
  std::int64_t columns = view.sizes.at(b) - std::max<std::int64_t>(offset, 0);
  std::int64_t length = std::max<std::int64_t>(std::min(rows, columns), 0);
  if (length > 0) result.offset += offset >= 0 ? offset * view.strides[b] : -offset * view.strides[a];
  for (std::size_t dim : {std::max(a, b), std::min(a, b)}) {
    result.sizes.erase(result.sizes.begin() + static_cast<std::ptrdiff_t>(dim));
    result.strides.erase(result.strides.begin() + static_cast<std::ptrdiff_t>(dim));
  }
  result.sizes.push_back(length);
  result.strides.push_back(view.strides[a] + view.strides[b]);
  return result;
}

Results resolve_diagonal(const Call& call) {
  return view_of(call, [&](const ir::View& view) {
    return diagonal(view, call.integer(1, "offset", 0), call.integer(2, "dim1", 0), call.integer(3, "dim2", 1));
  });
}

Results resolve_unfold(const Call& call) {
  return view_of(call, [&](const ir::View& view) {
    std::int64_t dim = call.integer(1, "dimension");
    auto d = static_cast<std::size_t>(dim < 0 ? dim + view.rank() : dim);
    std::int64_t size = call.integer(2, "size");
    std::int64_t step = call.integer(3, "step");
    if (size < 0 || step <= 0 || size > view.sizes.at(d)) throw NotResolved("unfold outside of the tensor");
    ir::View result = view;
    result.sizes[d] = (view.sizes[d] - size) / step + 1;
    result.strides[d] = view.strides[d] * step;
    result.sizes.push_back(size);
    result.strides.push_back(view.strides[d]);
    return result;
  });
}

}  // namespace

ir::View strided_view(const Call& call, const ir::View& from, std::size_t first) {
  int source = call.node_at(0, "self");
  const std::optional<fx::TensorMeta>& meta =
      call.context().module().nodes[static_cast<std::size_t>(source)].results.at(0);
  if (!meta || meta->strides != from.strides) throw NotResolved("its strides are not PyTorch's here");
  ir::View view{.offset = call.integer(first + 2, "storage_offset", meta->offset) - meta->offset + from.offset,
                .sizes = call.integers(first, "size"),
                .strides = call.integers(first + 1, "stride")};
  if (view.sizes.size() != view.strides.size() || view.offset < 0) throw NotResolved("sizes and strides do not match");
  for (std::int64_t stride : view.strides)
    if (stride < 0) throw NotResolved("negative strides");
  TensorSymbol symbol = call.tensor(0, "self");
  // Where an input begins in its storage may change from call to call, and what is written into a part of it keeps its
  // place there.
  const bool of_input =
      call.context().graph().value(symbol.root).producer < 0 ||
      call.context().module().nodes[static_cast<std::size_t>(source)].target.find("_scatter") != std::string::npos;
  if (of_input && call.find(first + 2, "storage_offset") != nullptr)
    throw NotResolved("a storage_offset counts from where the storage of an argument begins");
  if (view.range().second > call.context().graph().value(symbol.root).tensor.span())
    throw NotResolved("it reaches outside of the tensor it starts from");
  return view;
}

ir::View diagonal_view(const ir::View& view, std::int64_t offset, std::int64_t first, std::int64_t second) {
  return diagonal(view, offset, first, second);
}

namespace {

Results resolve_as_strided(const Call& call) {
  return view_of(call, [&](const ir::View& view) { return strided_view(call, view, 1); });
}

Results reshape_to(const Call& call, const ir::Extents& sizes) {
  int source = call.node_at(0, "self");
  const Results& results = call.context().results(source);
  if (results.size() == 1 && std::holds_alternative<ConstantSymbol>(results[0])) return resolve_alias(call);
  TensorSymbol symbol = call.tensor(0, "self");
  std::optional<ir::View> view;
  try {
    view = symbol.view.reshape(sizes);
  } catch (const UserError& error) {
    throw NotResolved(error.what());
  }
  if (!view) {
    symbol = call.context().copy(call.index(), symbol);
    view = symbol.view.reshape(sizes);
  } else {
    call.context().set_owner(call.index(), call.context().owner(source));
  }
  return {TensorSymbol{symbol.root, *view}};
}

/// view, reshape, flatten, unflatten: PyTorch has computed the shape.
Results resolve_reshape(const Call& call) {
  return reshape_to(call, call.meta().shape);
}

Results pieces(const Call& call, std::int64_t dim, const std::vector<std::int64_t>& sizes) {
  int source = call.node_at(0, "self");
  TensorSymbol symbol = call.tensor(0, "self");
  call.context().set_owner(call.index(), call.context().owner(source));
  Results results;
  std::int64_t start = 0;
  for (std::int64_t size : sizes) {
    results.push_back(TensorSymbol{symbol.root, symbol.view.slice(dim_of(dim), start, start + size)});
    start += size;
  }
  return results;
}

std::int64_t extent(const Call& call, std::int64_t dim) {
  const ir::Extents sizes = call.tensor(0, "self").view.sizes;
  std::int64_t wrapped = dim < 0 ? dim + static_cast<std::int64_t>(sizes.size()) : dim;
  if (wrapped < 0 || wrapped >= static_cast<std::int64_t>(sizes.size()))
    throw NotResolved(fmt::format("dimension {}", dim));
  return sizes[static_cast<std::size_t>(wrapped)];
}

std::vector<std::int64_t> equal_pieces(std::int64_t total, std::int64_t size) {
  if (size <= 0) throw NotResolved(fmt::format("pieces of size {}", size));
  std::vector<std::int64_t> sizes;
  for (std::int64_t start = 0; start < std::max<std::int64_t>(total, 1); start += size)
    sizes.push_back(std::min(size, total - start));
  return sizes;
}

Results resolve_split(const Call& call) {
  std::int64_t dim = call.integer(2, "dim", 0);
  std::vector<std::int64_t> sizes = call.integers(1, "split_size");
  if (call.at(1, "split_size").get<fx::List>() == nullptr) sizes = equal_pieces(extent(call, dim), sizes[0]);
  return pieces(call, dim, sizes);
}

Results resolve_chunk(const Call& call) {
  std::int64_t dim = call.integer(2, "dim", 0);
  std::int64_t total = extent(call, dim);
  std::int64_t chunks = std::max<std::int64_t>(call.integer(1, "chunks"), 1);
  return pieces(call, dim, equal_pieces(total, std::max<std::int64_t>((total + chunks - 1) / chunks, 1)));
}

Results resolve_unbind(const Call& call) {
  std::int64_t dim = call.integer(1, "dim", 0);
  std::int64_t total = extent(call, dim);
  TensorSymbol symbol = call.tensor(0, "self");
  call.context().set_owner(call.index(), call.context().owner(call.node_at(0, "self")));
  Results results;
  for (std::int64_t i = 0; i < total; ++i)
    results.push_back(TensorSymbol{symbol.root, symbol.view.select(dim_of(dim), i)});
  return results;
}

Results resolve_getitem(const Call& call) {
  int source = call.node_at(0, "self");
  const Results& results = call.context().results(source);
  if (!call.context().module().nodes[static_cast<std::size_t>(source)].is_tuple)
    throw NotResolved("indexing a tensor with Python's brackets");
  std::int64_t index = call.integer(1, "index");
  if (index < 0) index += static_cast<std::int64_t>(results.size());
  if (index < 0 || index >= static_cast<std::int64_t>(results.size())) throw NotResolved("there is no such result");
  const Symbol& symbol = results[static_cast<std::size_t>(index)];
  bool unkept =
      std::holds_alternative<std::monostate>(symbol) && !call.node().results.empty() && call.node().results[0];
  if (unkept && !kept_results(call.context().target(source)).empty())
    throw UnsupportedError(fmt::format("result {} of {} at {} is used, but only result 0 is computed here", index,
                                       call.context().target(source), call.node().source));
  if (call.context().owner(source) != source) call.context().set_owner(call.index(), call.context().owner(source));
  return {symbol};
}

}  // namespace

void add_view_resolvers(ResolverTable& table) {
  for (const char* name :
       {"aten.alias.default", "aten.detach.default", "aten.lift_fresh.default", "prims.view_of.default"})
    table[name] = {resolve_alias};
  table["aten.select.int"] = {resolve_select};
  table["aten.slice.Tensor"] = {resolve_slice};
  table["aten.narrow.default"] = {resolve_narrow};
  table["aten.t.default"] = {resolve_t};
  table["aten.transpose.int"] = {resolve_transpose};
  table["aten.permute.default"] = {resolve_permute};
  table["aten.expand.default"] = {resolve_expand};
  table["aten.unsqueeze.default"] = {resolve_unsqueeze};
  for (const char* name : {"aten.squeeze.default", "aten.squeeze.dim", "aten.squeeze.dims"})
    table[name] = {resolve_squeeze};
  table["aten.diagonal.default"] = {resolve_diagonal};
  table["aten.unfold.default"] = {resolve_unfold};
  table["aten.as_strided.default"] = {resolve_as_strided};
  for (const char* name : {"aten.view.default", "aten._unsafe_view.default", "aten.reshape.default",
                           "aten._reshape_alias.default", "aten.flatten.using_ints", "aten.unflatten.int"})
    table[name] = {resolve_reshape};
  for (const char* name : {"aten.split.Tensor", "aten.split_with_sizes.default", "aten.split.sizes"})
    table[name] = {resolve_split};
  table["aten.chunk.default"] = {resolve_chunk};
  table["aten.unbind.int"] = {resolve_unbind};
  table["operator.getitem"] = {resolve_getitem};
}

}  // namespace megakittens::frontend
