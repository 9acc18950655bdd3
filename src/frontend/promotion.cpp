#include "frontend/resolving.hpp"

#include "ir/pointwise.hpp"

namespace megakittens::frontend {
namespace {

struct Side {
  Symbol symbol;
  int rank = 0;  ///< a number, a tensor of no dimensions, another tensor: a higher one's type goes before
  ir::DType dtype = ir::DType::f32;
};

Side number(double value, ir::DType dtype) {
  return {ConstantSymbol{.value = value, .dtype = dtype}, 0, dtype};
}

Side side_of(const Call& call, std::size_t position, const char* name) {
  const fx::Argument& argument = call.at(position, name);
  if (const auto* flag = argument.get<bool>()) return number(*flag ? 1 : 0, ir::DType::boolean);
  if (const auto* whole = argument.get<std::int64_t>()) return number(static_cast<double>(*whole), ir::DType::i64);
  if (const auto* real = argument.get<double>()) return number(*real, ir::DType::f32);
  const auto* ref = argument.get<fx::NodeRef>();
  if (ref == nullptr) throw NotResolved("an argument is neither a tensor nor a number");
  const Results& results = call.context().results(ref->index);
  if (results.size() != 1 || std::holds_alternative<std::monostate>(results[0]))
    throw NotResolved("an argument is not one tensor");
  const auto* constant = std::get_if<ConstantSymbol>(&results[0]);
  const bool dimensions =
      constant != nullptr ? !constant->shape.empty() : !std::get<TensorSymbol>(results[0]).view.sizes.empty();
  return {results[0], dimensions ? 2 : 1, call.context().dtype(results[0])};
}

ir::DType common_type(const Side& a, const Side& b) {
  if (a.dtype == b.dtype) return a.dtype;
  const Side& high = a.rank >= b.rank ? a : b;
  const Side& low = a.rank >= b.rank ? b : a;
  if (ir::kind_of(low.dtype) > ir::kind_of(high.dtype)) return low.dtype;
  if (high.rank > low.rank || ir::kind_of(high.dtype) > ir::kind_of(low.dtype)) return high.dtype;
  return ir::is_floating(high.dtype) ? ir::DType::f32 : ir::DType::i64;  // two of a kind
}

Symbol converted(const Call& call, const Side& side, ir::DType common, Numbers numbers) {
  if (!ir::is_floating(common) || common == ir::DType::f32 || side.dtype == common) return side.symbol;
  if (const auto* constant = std::get_if<ConstantSymbol>(&side.symbol)) {
    if (numbers == Numbers::exact) return side.symbol;
    return ConstantSymbol{
        .value = ir::round_to(common, static_cast<float>(constant->value)), .dtype = common, .shape = constant->shape};
  }
  if (side.dtype == ir::DType::boolean) return side.symbol;  // 0 and 1 are themselves in every type
  const auto& tensor = std::get<TensorSymbol>(side.symbol);
  ir::Node cast;
  cast.body = ir::plain_body(ir::PointwiseOp::identity);
  cast.operands = {call.context().operand(tensor)};
  return call.context().add_node(call.index(), std::move(cast), ir::Tensor::dense(common, tensor.view.sizes));
}

}  // namespace

std::array<Symbol, 2> promoted(const Call& call, Numbers numbers, const char* second) {
  const Side a = side_of(call, 0, "self"), b = side_of(call, 1, second);
  const ir::DType common = common_type(a, b);
  return {converted(call, a, common, numbers), converted(call, b, common, numbers)};
}

}  // namespace megakittens::frontend
