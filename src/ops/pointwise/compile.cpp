#include "ops/pointwise/compile.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "ops/common/merge.hpp"
#include "support/error.hpp"

namespace megakittens::ops {
namespace {

using ir::PointwiseOp;
using ir::Ref;
using program::CodeOp;

CodeOp code_op(PointwiseOp op) {
  return static_cast<CodeOp>(op);
}

constexpr CodeOp kMirrors[] = {
#define MK_OPERATION(name, arity, result, form, mirror, ...) CodeOp::mirror,
#include "ir/operations.def"
};

/// The operation with its arguments exchanged, if there is one.
std::optional<CodeOp> exchanged(CodeOp op) {
  const CodeOp mirror = kMirrors[static_cast<std::size_t>(op)];
  return mirror == CodeOp::identity ? std::nullopt : std::optional(mirror);
}

/// Walks the steps once; the value of a step stays in the accumulator where the next step takes it, else in a
/// temporary.
class Compiler {
 public:
  Compiler(const ir::PointwiseBody& body, int operand_base, int first_output, const std::vector<ir::DType>& types,
           int temporaries)
      : body_(body),
        operand_base_(operand_base),
        first_output_(first_output),
        types_(types),
        temporaries_(temporaries) {
    last_use_.assign(body.steps.size(), -1);
    for (int s = 0; s < steps(); ++s)
      for (const Ref& ref : body.steps[s].args) {
        if (ref.kind == Ref::Kind::step) last_use_[ref.index] = s;
        if (ref.kind == Ref::Kind::accumulator) accumulator_last_use_ = s;
      }
    slot_of_.assign(body.steps.size(), -1);
  }

  std::variant<Code, std::string> run() {
    held_ = Ref::accumulator();
    if (accumulator_last_use_ > 0 || uses_of_accumulator() > 1) keep_accumulator();
    for (int s = 0; s < steps() && problem_.empty(); ++s) step(s);
    if (problem_.empty() && static_cast<int>(code_.words.size()) > program::kMaxCode)
      problem_ = fmt::format("its byte code has {} words, the limit is {}", code_.words.size(), program::kMaxCode);
    if (problem_.empty() && static_cast<int>(code_.constants.size()) > program::kMaxConstants)
      problem_ = fmt::format("it has {} constants, the limit is {}", code_.constants.size(), program::kMaxConstants);
    if (!problem_.empty()) return problem_;
    combine_superinstructions(code_.words, uses_of_accumulator() > 0);
    return code_;
  }

 private:
  int steps() const { return static_cast<int>(body_.steps.size()); }

  int uses_of_accumulator() const {
    int uses = 0;
    for (const ir::Step& step : body_.steps)
      uses += static_cast<int>(std::count(step.args.begin(), step.args.end(), Ref::accumulator()));
    return uses;
  }

  void emit(CodeOp op, int source = program::kNoSource, int third = 0, ir::DType type = ir::DType::f32) {
    code_.words.push_back({.op = static_cast<std::uint8_t>(op),
                           .source = static_cast<std::uint8_t>(source),
                           .third = static_cast<std::uint8_t>(third),
                           .type = static_cast<std::uint8_t>(type)});
  }

  /// A temporary for a value last read by step `until`. One that step `current_` reads last is free only after it.
  int take_temporary(int until, bool before_step) {
    for (int t = 0; t < temporaries_; ++t)
      if (free_from_[t] < current_ || (!before_step && free_from_[t] == current_)) {
        free_from_[t] = until;
        return t;
      }
    problem_ = fmt::format("it keeps more than {} intermediate values at once", temporaries_);
    return 0;
  }

  void keep_accumulator() {
    accumulator_slot_ = take_temporary(accumulator_last_use_, true);
    emit(CodeOp::keep, program::kNoSource, accumulator_slot_);
  }

  /// Where `ref` can be read from besides the accumulator; -1 where it lies nowhere else.
  int source_of(const Ref& ref) {
    switch (ref.kind) {
      case Ref::Kind::operand:
        return ref.index + operand_base_;
      case Ref::Kind::step:
        return slot_of_[ref.index] < 0 ? -1 : program::kSourceTemporary + slot_of_[ref.index];
      case Ref::Kind::accumulator:
        return accumulator_slot_ < 0 ? -1 : program::kSourceTemporary + accumulator_slot_;
      case Ref::Kind::constant:
        break;
    }
    auto value = static_cast<float>(ref.value);
    auto& pool = code_.constants;
    std::size_t at = 0;
    while (at < pool.size() && std::bit_cast<std::uint32_t>(pool[at]) != std::bit_cast<std::uint32_t>(value)) ++at;
    if (at == pool.size()) pool.push_back(value);
    return program::kSourceConstant + static_cast<int>(at);
  }

  /// `select` takes its third argument from a temporary: brings it there, and the accumulator back.
  int temporary_of(int source) {
    if (source >= program::kSourceTemporary && source < program::kSourceConstant)
      return source - program::kSourceTemporary;
    // The condition is in the accumulator; park it while the third argument passes through.
    int condition = take_temporary(current_, true);
    int third = take_temporary(current_, true);
    emit(CodeOp::keep, program::kNoSource, condition);
    emit(CodeOp::load, source);
    emit(CodeOp::keep, program::kNoSource, third);
    emit(CodeOp::load, program::kSourceTemporary + condition);
    return third;
  }

  void step(int s) {
    current_ = s;
    const ir::Step& step = body_.steps[s];
    CodeOp op = code_op(step.op);
    bool swap = step.args.size() == 2 && held_ != step.args[0] && held_ == step.args[1] && exchanged(op) &&
                source_of(step.args[0]) >= 0;
    const Ref& first = step.args[swap ? 1 : 0];
    if (swap) op = *exchanged(op);
    if (held_ != first) emit(CodeOp::load, source_of(first));
    std::array<int, 2> sources{program::kNoSource, 0};
    for (std::size_t i = 1; i < step.args.size(); ++i) {
      sources[i - 1] = source_of(step.args[swap ? 0 : i]);
      MK_CHECK(sources[i - 1] >= 0, "step {} reads a value that was not kept", s);
    }
    if (op == CodeOp::where) sources[1] = temporary_of(sources[1]);
    const ir::DType type = step.op == PointwiseOp::round ? step.dtype : precision_of(s);
    if (op != CodeOp::identity) emit(op, sources[0], sources[1], type);
    held_ = Ref::step(s);
    for (std::size_t k = 0; k < body_.results.size(); ++k)
      if (body_.results[k] == s)
        emit(CodeOp::store, program::kNoSource, first_output_ + static_cast<int>(k), types_[k]);
    if (must_keep(s)) {
      slot_of_[s] = take_temporary(last_use_[s], false);
      emit(CodeOp::keep, program::kNoSource, slot_of_[s]);
    }
  }

  /// A 16-bit type where nobody sees more of step s: it is rounded to one next, or everything that leaves is. Functions
  /// then have fast forms.
  ir::DType precision_of(int s) const {
    auto half = [](ir::DType type) { return type == ir::DType::bf16 || type == ir::DType::f16; };
    if (std::ranges::all_of(types_, half)) return types_[0];
    ir::DType seen = ir::DType::f32;
    for (std::size_t k = 0; k < body_.results.size(); ++k)
      if (body_.results[k] == s) {
        if (!half(types_[k])) return ir::DType::f32;
        seen = types_[k];
      }
    for (const ir::Step& reader : body_.steps)
      if (std::ranges::find(reader.args, Ref::step(s)) != reader.args.end()) {
        if (reader.op != PointwiseOp::round || !half(reader.dtype)) return ir::DType::f32;
        seen = reader.dtype;
      }
    return seen;
  }

  /// False where the value is dead, or only the next step reads it, and can take it from the accumulator.
  bool must_keep(int s) const {
    if (last_use_[s] < 0) return false;
    if (last_use_[s] > s + 1) return true;
    const ir::Step& next = body_.steps[s + 1];
    auto uses = std::count(next.args.begin(), next.args.end(), Ref::step(s));
    if (uses > 1) return true;
    if (next.args[0] == Ref::step(s)) return false;
    return next.args.size() != 2 || !exchanged(code_op(next.op));
  }

  const ir::PointwiseBody& body_;
  int operand_base_;
  int first_output_;
  const std::vector<ir::DType>& types_;
  Code code_;
  std::string problem_;
  std::vector<int> last_use_;
  std::vector<int> slot_of_;
  int accumulator_last_use_ = -1;
  int accumulator_slot_ = -1;
  int current_ = 0;
  int temporaries_;
  /// The last step that reads each temporary; -1 while it holds nothing.
  std::array<int, program::kTemporaries> free_from_{-1, -1, -1, -1};
  Ref held_;
};

}  // namespace

std::optional<std::string> unsuited_result(ir::DType dtype) {
  if (ir::is_floating(dtype) || dtype == ir::DType::boolean) return std::nullopt;
  return fmt::format(
      "it would have to compute {} values; pointwise results are bf16, f16, f32 or bool: make integers outside the "
      "compiled function",
      ir::name_of(dtype));
}

std::variant<Code, std::string> compile_pointwise(const ir::PointwiseBody& body, int operand_base, int first_output,
                                                  const std::vector<ir::DType>& output_types, int temporaries) {
  MK_CHECK(output_types.size() == body.results.size(), "{} output types for {} results", output_types.size(),
           body.results.size());
  for (const ir::Step& step : body.steps)
    if (step.op == PointwiseOp::round)
      if (std::optional<std::string> problem = unsuited_result(step.dtype)) return *problem;
  return Compiler(body, operand_base, first_output, output_types, temporaries).run();
}

std::optional<ir::PointwiseBody> body_of(const ir::Node& node) {
  if (node.family == ir::Family::copy) return ir::plain_body(PointwiseOp::identity);
  return node.family == ir::Family::pointwise ? node.body : std::nullopt;
}

ir::PointwiseBody epilogue_of(const ir::Node& node) {
  if (node.body) return *node.body;
  return {.steps = {{.op = PointwiseOp::identity, .args = {Ref::accumulator()}}}, .results = {0}};
}

void set_code(program::NodeRecord& record, const Code& code) {
  record.code_count = static_cast<std::uint16_t>(code.words.size());
  record.constant_count = static_cast<std::uint16_t>(code.constants.size());
  std::copy(code.words.begin(), code.words.end(), record.code);
  std::copy(code.constants.begin(), code.constants.end(), record.constants);
}

}  // namespace megakittens::ops
