#include "frontend/resolving.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/resolvers.hpp"
#include "support/error.hpp"

namespace megakittens::frontend {
namespace {

const ResolverTable& view_table() {
  static const ResolverTable table = [] {
    ResolverTable made;
    add_view_resolvers(made);
    return made;
  }();
  return table;
}

bool is_view(std::string_view target) {
  return view_table().contains(target);
}

bool is_duplicate(std::string_view target) {
  return target == "aten.clone.default" || target == "aten.copy.default" || target == "aten.contiguous.default" ||
         target == "aten.lift_fresh_copy.default";
}

/// `user` takes the shape or place of `read`, its first argument, and none of its values.
bool reads_only_shape(const Context& context, int user, int read) {
  std::string_view target = context.target(user);
  bool first_only = false;
  for (std::string_view name : {"aten.copy_.default", "aten.copy.default", "aten.zero.default", "aten.fill.Scalar",
                                "aten.zeros_like.default", "aten.ones_like.default", "aten.full_like.default",
                                "aten.new_zeros.default", "aten.new_ones.default", "aten.new_full.default"})
    first_only = first_only || target == name;
  const fx::Node& node = context.module().nodes[static_cast<std::size_t>(user)];
  if (!first_only || node.args.empty()) return false;
  for (std::size_t i = 1; i < node.args.size(); ++i) {
    bool found = false;
    fx::for_each_node(node.args[i], [&](fx::NodeRef ref) { found = found || ref.index == read; });
    if (found) return false;
  }
  return true;
}

bool is_scatter(std::string_view target) {
  return target == "aten.slice_scatter.default" || target == "aten.select_scatter.default" ||
         target == "aten.diagonal_scatter.default" || target == "aten.as_strided_scatter.default";
}

bool is_output(const Context& context, int index) {
  return context.module().nodes[static_cast<std::size_t>(index)].op == fx::OpKind::output;
}

bool is_placeholder(const Context& context, int index) {
  return context.module().nodes[static_cast<std::size_t>(index)].op == fx::OpKind::placeholder;
}

int argument_node(const Context& context, int index, std::size_t position) {
  const fx::Node& node = context.module().nodes[static_cast<std::size_t>(index)];
  if (position >= node.args.size()) return -1;
  const auto* ref = node.args[position].get<fx::NodeRef>();
  return ref == nullptr ? -1 : ref->index;
}

std::optional<TensorSymbol> symbol_of(const Context& context, int index) {
  if (index < 0 || !context.is_done(index) || context.results(index).size() != 1) return std::nullopt;
  const auto* symbol = std::get_if<TensorSymbol>(&context.results(index)[0]);
  return symbol == nullptr ? std::nullopt : std::optional(*symbol);
}

/// What part of `base` a *_scatter call replaces.
std::optional<ir::View> scattered_part(Context& context, int scatter, const ir::View& base) {
  Call call(context, scatter);
  try {
    const std::string& target = call.target();
    if (target == "aten.slice_scatter.default")
      return base.slice(static_cast<int>(call.integer(2, "dim", 0)), call.integer(3, "start", 0),
                        call.integer(4, "end", INT64_MAX), call.integer(5, "step", 1));
    if (target == "aten.select_scatter.default")
      return base.select(static_cast<int>(call.integer(2, "dim")), call.integer(3, "index"));
    if (target == "aten.diagonal_scatter.default")
      return diagonal_view(base, call.integer(2, "offset", 0), call.integer(3, "dim1", 0), call.integer(4, "dim2", 1));
    if (target == "aten.as_strided_scatter.default") return strided_view(call, base, 2);
  } catch (const NotResolved&) {
    return std::nullopt;
  } catch (const UserError&) {
    return std::nullopt;
  }
  return std::nullopt;
}

/// The output node returns `index` as a tensor of its own, not as an alias of an input that the caller has already.
bool is_returned(const Context& context, int output, int index) {
  const fx::Node& node = context.module().nodes[static_cast<std::size_t>(output)];
  const auto* list = node.args.empty() ? nullptr : node.args[0].get<fx::List>();
  if (list == nullptr) return true;
  for (std::size_t i = 0; i < list->size(); ++i) {
    if (std::ranges::find(node.aliases, static_cast<std::int64_t>(i)) != node.aliases.end()) continue;
    bool found = false;
    fx::for_each_node((*list)[i], [&](fx::NodeRef ref) { found = found || ref.index == index; });
    if (found) return true;
  }
  return false;
}

/// The function returns the result of `index`, or a view of it.
bool reaches_output(const Context& context, int index) {
  std::vector<int> aliases{index};
  for (std::size_t i = 0; i < aliases.size(); ++i)
    for (int user : context.users(aliases[i])) {
      if (is_output(context, user) && is_returned(context, user, aliases[i])) return true;
      if (is_view(context.target(user)) || is_duplicate(context.target(user))) aliases.push_back(user);
    }
  return false;
}

/// The copy goes at once into the tensor it was made for: nothing is written in between.
bool is_consumed_at_once(const Context& context, int index) {
  const std::vector<int>& users = context.users(index);
  if (users.size() != 1 || !(is_scatter(context.target(users[0])) || context.target(users[0]) == "aten.copy_.default"))
    return false;
  for (int between = index + 1; between < users[0]; ++between)
    if (!is_view(context.target(between))) return false;
  return argument_node(context, users[0], 1) == index;
}

/// Results of scatters that start from `index` end in a copy_ into the storage `root`.
bool returns_to(const Context& context, int index, ir::ValueId root) {
  return std::ranges::any_of(context.users(index), [&](int user) {
    const std::string& target = context.target(user);
    if (target == "aten.copy_.default") {
      std::optional<TensorSymbol> written = symbol_of(context, argument_node(context, user, 0));
      return argument_node(context, user, 1) == index && written && written->root == root;
    }
    if (is_scatter(target) || is_view(target) || target == "higher_order.auto_functionalized_v2")
      return returns_to(context, user, root);
    return false;
  });
}

bool can_overwrite(Context& context, int base, int consumer, int after);

/// `outer` puts `inner` back to where inner's base came from.
bool puts_back(Context& context, int outer, int inner) {
  if (!is_scatter(context.target(outer)) || argument_node(context, outer, 1) != inner) return false;
  std::optional<TensorSymbol> whole = symbol_of(context, argument_node(context, outer, 0));
  std::optional<TensorSymbol> part = symbol_of(context, argument_node(context, inner, 0));
  if (!whole || !part || whole->root != part->root) return false;
  std::optional<ir::View> view = scattered_part(context, outer, whole->view);
  return view && *view == part->view && can_overwrite(context, argument_node(context, outer, 0), outer, outer);
}

/// Nothing but `consumer` reads base's storage after `after`, and an input is overwritten only if the graph says so.
bool can_overwrite(Context& context, int base, int consumer, int after) {
  std::optional<TensorSymbol> symbol = symbol_of(context, base);
  if (!symbol) return false;
  int owner = context.owner(base);
  for (int reader : later_readers(context, owner, after)) {
    if (reader == consumer) continue;
    if (is_output(context, reader) && is_placeholder(context, owner) && is_written_back(context, owner)) continue;
    if (!puts_back(context, reader, consumer)) return false;
  }
  for (int d = 0; d < symbol->view.rank(); ++d)
    if (symbol->view.sizes[static_cast<std::size_t>(d)] > 1 && symbol->view.strides[static_cast<std::size_t>(d)] == 0)
      return false;
  // What the function returns besides must not share the caller's tensor.
  if (!context.is_input(symbol->root)) return true;
  return returns_to(context, consumer, symbol->root) && !reaches_output(context, consumer);
}

Results resolve_scatter(const Call& call) {
  Context& context = call.context();
  int base = call.node_at(0, "self");
  const Symbol source = context.results(call.node_at(1, "src")).at(0);
  if (std::holds_alternative<std::monostate>(source)) throw NotResolved("the source is not a tensor");
  TensorSymbol storage = call.tensor(0, "self");
  std::optional<ir::View> part = scattered_part(context, call.index(), storage.view);
  if (part && !can_overwrite(context, base, call.index(), call.index())) {
    storage = context.copy(call.index(), storage);
    part = scattered_part(context, call.index(), storage.view);
  }
  if (!part) throw NotResolved("the part it writes is not a view");
  const auto* tensor = std::get_if<TensorSymbol>(&source);
  if (tensor == nullptr || *tensor != TensorSymbol{storage.root, *part})
    context.write(call.index(), source, {storage.root, *part});
  return {storage};
}

Results resolve_copy_into(const Call& call) {
  Context& context = call.context();
  TensorSymbol target = call.tensor(0, "self");
  const Symbol source = context.results(call.node_at(1, "src")).at(0);
  if (std::holds_alternative<std::monostate>(source)) throw NotResolved("the source is not a tensor");
  const auto* tensor = std::get_if<TensorSymbol>(&source);
  if (tensor == nullptr || *tensor != target) context.write(call.index(), source, {target.root, target.view});
  context.set_owner(call.index(), context.owner(call.node_at(0, "self")));
  return {target};
}

/// The operation inside auto_functionalized_v2, with its bases written in place where nobody reads them as they were.
Results resolve_auto_functionalized(const Call& call) {
  Context& context = call.context();
  const auto* op = call.at(0, "op").get<fx::Named>();
  auto bases = call.node().kwargs.find("_all_bases");
  if (op == nullptr || bases == call.node().kwargs.end() || bases->second.get<fx::List>() == nullptr)
    throw NotResolved("auto_functionalized_v2 without an operation or bases");
  const fx::List& list = *bases->second.get<fx::List>();
  std::size_t count = call.node().results.size();
  if (list.size() > count) throw NotResolved("auto_functionalized_v2 with more bases than results");

  ir::Node node;
  node.family = ir::Family::call;
  ir::Call details{.target = op->text};
  std::vector<TensorSymbol> storages;
  for (const fx::Argument& item : list) {
    const auto* ref = item.get<fx::NodeRef>();
    if (ref == nullptr || context.results(ref->index).size() != 1) throw NotResolved("a base is not a tensor");
    TensorSymbol storage = context.materialise(call.index(), context.results(ref->index)[0]);
    if (!can_overwrite(context, ref->index, call.index(), call.index())) storage = context.copy(call.index(), storage);
    storages.push_back(storage);
  }
  std::string arguments;
  for (const auto& [key, argument] : call.node().kwargs) {
    if (key == "_all_bases") continue;
    arguments += fmt::format("{}{}={}", arguments.empty() ? "" : ", ", key, to_string(argument, context.module()));
    keep_argument(details, key, argument);
    fx::for_each_node(argument, [&](fx::NodeRef ref) {
      for (const Symbol& symbol : context.results(ref.index))
        if (!std::holds_alternative<std::monostate>(symbol))
          node.operands.push_back(context.operand(context.materialise(call.index(), symbol)));
    });
  }
  details.text = arguments;
  node.details = std::move(details);
  std::vector<ir::Tensor> tensors;
  std::vector<std::optional<Destination>> written;
  std::vector<int> places;
  for (std::size_t k = 0; k + list.size() < count; ++k) {
    if (!call.node().results[k]) continue;
    ir::Tensor made = tensor_of(*call.node().results[k], "a result of " + op->text, call.node().source);
    tensors.push_back(ir::Tensor::dense(made.dtype, made.shape));
    written.emplace_back();
    places.push_back(static_cast<int>(k));
  }
  for (std::size_t b = 0; b < list.size(); ++b) {
    node.operands.push_back(context.operand(storages[b]));
    tensors.push_back(context.graph().value(storages[b].root).tensor);
    written.emplace_back(Destination{storages[b].root, storages[b].view});
    places.push_back(static_cast<int>(count - list.size() + b));
  }
  std::vector<TensorSymbol> shown = context.add_node(call.index(), std::move(node), tensors, written);
  Results results(count);
  for (std::size_t i = 0; i < shown.size(); ++i) results[static_cast<std::size_t>(places[i])] = shown[i];
  return results;
}

}  // namespace

std::vector<int> later_readers(const Context& context, int owner, int after) {
  std::vector<int> readers;
  std::vector<int> aliases{owner};
  for (std::size_t i = 0; i < aliases.size(); ++i)
    for (int user : context.users(aliases[i])) {
      const std::string& target = context.target(user);
      if (reads_only_shape(context, user, aliases[i])) {
        // What copy_ returns is the tensor that it wrote.
        if (target == "aten.copy_.default") aliases.push_back(user);
        continue;
      }
      if (is_view(target) || is_duplicate(target) || target == "aten.copy_.default")
        if (std::ranges::find(aliases, user) == aliases.end()) aliases.push_back(user);
      if (!is_view(target) && user > after) readers.push_back(user);
    }
  return readers;
}

bool is_written_back(const Context& context, int owner) {
  std::vector<int> aliases{owner};
  for (std::size_t i = 0; i < aliases.size(); ++i)
    for (int user : context.users(aliases[i])) {
      if (context.target(user) == "aten.copy_.default" && argument_node(context, user, 0) == aliases[i]) return true;
      if (is_view(context.target(user))) aliases.push_back(user);
    }
  return false;
}

bool is_observed(const Context& context, int index, const TensorSymbol& source) {
  if (is_consumed_at_once(context, index)) return false;
  if (reaches_output(context, index)) return true;
  if (!context.is_input(source.root)) return false;
  for (int i = 0; i < static_cast<int>(context.module().nodes.size()); ++i)
    if (is_placeholder(context, i))
      if (std::optional<TensorSymbol> input = symbol_of(context, i); input && input->root == source.root)
        return is_written_back(context, i);
  return false;
}

std::optional<Destination> Context::destination(const Call& call, std::span<const TensorSymbol> operands,
                                                bool elementwise) {
  // The one call that puts this result into another tensor, past a copy that changes nothing.
  int index = call.index();
  while (users(index).size() == 1 && target(users(index)[0]) == "aten.copy.default" &&
         argument_node(*this, users(index)[0], 1) == index)
    index = users(index)[0];
  std::optional<Destination> to;
  for (int user : users(index)) {
    if (target(user) == "aten.copy_.default" && argument_node(*this, user, 1) == index) {
      int written = argument_node(*this, user, 0);
      std::optional<TensorSymbol> symbol = symbol_of(*this, written);
      if (!symbol || written == index || reaches_output(*this, call.index())) continue;
      bool is_last = true;
      for (int reader : later_readers(*this, owner(written), call.index()))
        is_last = is_last && (reader == user || (is_output(*this, reader) && is_placeholder(*this, owner(written))));
      for (int i = 0; i < static_cast<int>(module_.nodes.size()); ++i)
        if (i != user && target(i) == "aten.copy_.default" && argument_node(*this, i, 0) >= 0)
          is_last = is_last && owner(argument_node(*this, i, 0)) != owner(written);
      if (is_last) to = Destination{symbol->root, symbol->view};
    } else if (is_scatter(target(user)) && argument_node(*this, user, 1) == index && users(index).size() == 1) {
      int base = argument_node(*this, user, 0);
      std::optional<TensorSymbol> symbol = symbol_of(*this, base);
      if (!symbol || !can_overwrite(*this, base, user, call.index())) continue;
      if (std::optional<ir::View> part = scattered_part(*this, user, symbol->view))
        to = Destination{symbol->root, *part};
    }
    if (to) break;
  }
  if (!to || to->view.sizes != call.meta().shape || graph_.value(to->root).tensor.dtype != call.result_dtype())
    return std::nullopt;
  for (const TensorSymbol& operand : operands) {
    if (operand.root != to->root || (elementwise && operand.view == to->view)) continue;
    auto [first, end] = operand.view.range();
    auto [low, high] = to->view.range();
    if (first < high && low < end) return std::nullopt;
  }
  for (int d = 0; d < to->view.rank(); ++d)
    if (to->view.sizes[static_cast<std::size_t>(d)] > 1 && to->view.strides[static_cast<std::size_t>(d)] == 0)
      return std::nullopt;
  return to;
}

void add_mutation_resolvers(ResolverTable& table) {
  for (const char* name : {"slice_scatter", "select_scatter", "diagonal_scatter", "as_strided_scatter"})
    table[std::string("aten.") + name + ".default"] = {resolve_scatter};
  table["aten.copy_.default"] = {resolve_copy_into};
  table["higher_order.auto_functionalized_v2"] = {resolve_auto_functionalized};
}

}  // namespace megakittens::frontend
