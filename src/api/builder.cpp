#include "megakittens/builder.hpp"

#include "api/translate.hpp"
#include "ops/user/user_type.hpp"
#include "support/error.hpp"

namespace megakittens {

struct Builder::State {
  ir::Builder builder;
};

struct Expression::State {
  std::shared_ptr<Builder::State> owner;
  ir::Handle handle;

  ir::Builder& builder() const { return owner->builder; }
  /// Another expression of the same builder.
  static Expression make(std::shared_ptr<Builder::State> owner, ir::Handle handle) {
    return Expression(std::make_shared<const State>(State{std::move(owner), std::move(handle)}));
  }
  Expression show(ir::View view) const { return make(owner, {handle.value, std::move(view)}); }
  /// The argument's handle, for an operation of this expression's builder.
  const ir::Handle& beside(const Expression& other) const {
    if (other.state_->owner != owner)
      throw UserError("the arguments of an operation belong to different builders; an expression stays with its own");
    return other.state_->handle;
  }
};

DType Expression::dtype() const {
  return api::to_public(state_->builder().dtype_of(state_->handle));
}

const Shape& Expression::shape() const {
  return state_->handle.view.sizes;
}

Expression Expression::select(int dim, std::int64_t index) const {
  return state_->show(state_->handle.view.select(dim, index));
}

Expression Expression::slice(int dim, std::int64_t start, std::int64_t end, std::int64_t step) const {
  return state_->show(state_->handle.view.slice(dim, start, end, step));
}

Expression Expression::transpose(int first, int second) const {
  return state_->show(state_->handle.view.transpose(first, second));
}

Expression Expression::permute(const std::vector<std::int64_t>& order) const {
  return state_->show(state_->handle.view.permute(order));
}

Expression Expression::expand(const Shape& sizes) const {
  return state_->show(state_->handle.view.expand(sizes));
}

Expression Expression::unsqueeze(int dim) const {
  return state_->show(state_->handle.view.unsqueeze(dim));
}

Expression Expression::squeeze(int dim) const {
  return state_->show(state_->handle.view.squeeze(dim));
}

Expression Expression::reshape(const Shape& sizes) const {
  return State::make(state_->owner, state_->builder().reshape(state_->handle, sizes));
}

Expression Expression::cast(DType dtype) const {
  return State::make(state_->owner, state_->builder().cast(state_->handle, api::to_internal(dtype)));
}

Expression Expression::copy() const {
  return State::make(state_->owner, state_->builder().copy(state_->handle));
}

Expression Expression::assign(const Expression& source) const {
  return State::make(state_->owner, state_->builder().assign(state_->handle, state_->beside(source)));
}

Expression matmul(const Expression& a, const Expression& b) {
  const Expression::State& state = *a.state_;
  return Expression::State::make(state.owner, state.builder().matmul(state.handle, state.beside(b)));
}

Expression apply(std::string_view operation, const std::vector<Expression>& arguments) {
  const ir::PointwiseOp op = ir::parse_pointwise_op(operation);
  if (arguments.empty() || static_cast<int>(arguments.size()) != ir::arity_of(op))
    throw UserError(fmt::format("{} takes {} arguments, {} were given", operation, ir::arity_of(op), arguments.size()));
  const Expression::State& state = *arguments[0].state_;
  std::vector<ir::Handle> handles;
  for (const Expression& argument : arguments) handles.push_back(state.beside(argument));
  return Expression::State::make(state.owner, state.builder().pointwise(op, handles));
}

Expression apply(std::string_view operation, const Expression& argument, double scalar) {
  const ir::PointwiseOp op = ir::parse_pointwise_op(operation);
  if (ir::arity_of(op) != 2)
    throw UserError(
        fmt::format("{} takes {} arguments, a tensor and a number were given", operation, ir::arity_of(op)));
  const Expression::State& state = *argument.state_;
  return Expression::State::make(state.owner, state.builder().pointwise(op, state.handle, scalar));
}

Expression call(const std::string& operation, const std::vector<Expression>& inputs, DType dtype, const Shape& shape,
                const Arguments& arguments) {
  if (inputs.empty()) throw UserError(fmt::format("'{}' is called without a tensor", operation));
  const Expression::State& state = *inputs[0].state_;
  std::vector<ir::Handle> handles;
  for (const Expression& input : inputs) handles.push_back(state.beside(input));
  ir::Tensor result = ir::Tensor::dense(api::to_internal(dtype), shape);
  return Expression::State::make(state.owner, state.builder().call(ops::target_of_operation(operation), handles,
                                                                   {std::move(result)}, arguments)[0]);
}

Builder::Builder(std::string name) : state_(std::make_shared<State>(State{ir::Builder(std::move(name))})) {}

Expression Builder::input(std::string name, DType dtype, Shape shape) {
  return Expression::State::make(state_,
                                 state_->builder.input(std::move(name), api::to_internal(dtype), std::move(shape)));
}

void Builder::output(const Expression& expression) {
  if (expression.state_->owner != state_) throw UserError("the output belongs to another builder");
  state_->builder.output(expression.state_->handle);
}

void Builder::at(std::string name, std::string source) {
  state_->builder.at(std::move(name), std::move(source));
}

Graph Builder::build() const {
  return Graph(std::make_shared<const Graph::State>(Graph::State{state_->builder.build()}));
}

}  // namespace megakittens
