// What the resolvers work with: symbols for FX results, access to a call's arguments, and emission of nodes.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "frontend/fx/module.hpp"
#include "ir/graph.hpp"

namespace megakittens::frontend {

/// A tensor: a view of a storage. `root` is the first version of the storage; emission reads its newest version.
struct TensorSymbol {
  ir::ValueId root = -1;
  ir::View view;
  bool operator==(const TensorSymbol&) const = default;
};
/// A tensor that is one number everywhere; it becomes a constant of a body, or a node where that is not possible.
struct ConstantSymbol {
  double value = 0;
  ir::DType dtype = ir::DType::f32;
  ir::Extents shape;
};
/// std::monostate: not a tensor, or a result that is not kept.
using Symbol = std::variant<std::monostate, TensorSymbol, ConstantSymbol>;
using Results = std::vector<Symbol>;

/// Why a resolver does not take a call; the next one is tried, then it becomes a node of family call with this as its
/// reason.
class NotResolved : public std::exception {
 public:
  explicit NotResolved(std::string why) : why_(std::move(why)) {}
  const char* what() const noexcept override { return why_.c_str(); }

 private:
  std::string why_;
};

class Context;

/// One call with its arguments, by position or by name as aten's schema has them. Getters throw NotResolved where the
/// argument has another type.
class Call {
 public:
  Call(Context& context, int index);

  Context& context() const { return *context_; }
  int index() const { return index_; }
  const fx::Node& node() const;
  const std::string& target() const;
  /// nullptr where absent or None.
  const fx::Argument* find(std::size_t position, const char* name) const;
  const fx::Argument& at(std::size_t position, const char* name) const;

  bool is_tensor(std::size_t position, const char* name) const;
  /// The FX node that is the argument.
  int node_at(std::size_t position, const char* name) const;
  /// A tensor argument as a view; a constant is made into a node.
  TensorSymbol tensor(std::size_t position, const char* name) const;
  std::int64_t integer(std::size_t position, const char* name) const;
  std::int64_t integer(std::size_t position, const char* name, std::int64_t fallback) const;
  double number(std::size_t position, const char* name, double fallback) const;
  std::string text(std::size_t position, const char* name, const char* fallback) const;
  /// A list, or one integer, or the rest of the positional arguments (methods: x.view(2, 3)).
  std::vector<std::int64_t> integers(std::size_t position, const char* name) const;
  ir::DType dtype_of(const fx::Argument& argument) const;

  /// The tensor that PyTorch computed for result k; throws NotResolved where it is not a tensor.
  const fx::TensorMeta& meta(std::size_t k = 0) const;
  ir::DType result_dtype(std::size_t k = 0) const;

 private:
  Context* context_;
  int index_;
};

/// Where a call's result is written instead of a tensor of its own.
struct Destination {
  ir::ValueId root = -1;
  ir::View view;
};

class Context {
 public:
  Context(const fx::Module& module, std::vector<std::string> targets, std::vector<std::vector<int>> users);

  const fx::Module& module() const { return module_; }
  const std::string& target(int index) const { return targets_[static_cast<std::size_t>(index)]; }
  const std::vector<int>& users(int index) const { return users_[static_cast<std::size_t>(index)]; }
  const Results& results(int index) const { return results_[static_cast<std::size_t>(index)]; }
  /// A node was resolved already (its results are known).
  bool is_done(int index) const { return done_[static_cast<std::size_t>(index)]; }
  void set_results(int index, Results results);

  /// Which FX node owns the storage that `index` shows: follows views that were resolved as such.
  int owner(int index) const { return owner_[static_cast<std::size_t>(index)]; }
  void set_owner(int index, int owner) { owner_[static_cast<std::size_t>(index)] = owner; }

  ir::ValueId add_input(const std::string& name, ir::Tensor tensor);
  /// Adds a node for FX node `index`; its outputs are the tensors, or new versions of storages where a mutation is
  /// given
  /// (`of` is a root). Returns what each output shows.
  std::vector<TensorSymbol> add_node(int index, ir::Node node, const std::vector<ir::Tensor>& tensors,
                                     const std::vector<std::optional<Destination>>& written);
  /// One output, written to `written` where given.
  TensorSymbol add_node(int index, ir::Node node, const ir::Tensor& tensor,
                        const std::optional<Destination>& written = std::nullopt);
  /// A dense copy of what a symbol shows.
  TensorSymbol copy(int index, const TensorSymbol& source);
  /// Writes a symbol (same shape; converted where the types differ) into a destination.
  void write(int index, const Symbol& source, const Destination& destination);
  /// The tensor itself, or a node that fills one with the constant.
  TensorSymbol materialise(int index, const Symbol& symbol);

  ir::Operand operand(const TensorSymbol& symbol) const;
  ir::DType dtype(const Symbol& symbol) const;
  bool is_input(ir::ValueId root) const;
  ir::Graph& graph() { return graph_; }
  const ir::Graph& graph() const { return graph_; }
  /// Where the call being resolved should write, if anywhere; asked once by emission of pointwise and matmul nodes.
  std::optional<Destination> destination(const Call& call, std::span<const TensorSymbol> operands, bool elementwise);

 private:
  std::string unique_name(const std::string& wanted);

  const fx::Module& module_;
  std::vector<std::string> targets_;
  std::vector<std::vector<int>> users_;
  std::vector<Results> results_;
  std::vector<bool> done_;
  std::vector<int> owner_;
  std::vector<ir::ValueId> newest_;  ///< of each value: the newest version of its storage
  std::map<std::string, int> names_;
  ir::Graph graph_;
};

/// Our tensor for PyTorch's. Throws UnsupportedError naming `what` and `source` for a dtype or rank that we have not.
ir::Tensor tensor_of(const fx::TensorMeta& meta, const std::string& what, const std::string& source);

}  // namespace megakittens::frontend
