// Host half of the instruction type of rms_norm.cuh, as a plug-in: y = x * rsqrt(mean(x^2) + epsilon) * weight.
//   c++ -std=c++20 -shared -fPIC -I<include folder of megakittens> rms_norm.cpp -o rms_norm_plugin.so
#include <algorithm>
#include <cmath>
#include <megakittens/instruction_type.hpp>

namespace {

using namespace megakittens;

constexpr std::int64_t kMostRows = 32;  // of an instruction: four for each consumer warp

class RmsNorm final : public InstructionType {
 public:
  std::string name() const override { return "rms_norm"; }
  std::string operation() const override { return "megakittens_example::rms_norm"; }
  std::string device_half() const override { return "rms_norm.cuh"; }
  bool takes_epilogue() const override { return true; }

  std::optional<std::string> unsuited(const Call& call) const override {
    if (call.operands.size() != 3) return "it takes x and weight, and gives one tensor";
    const OperandInfo &x = call.operands[0], &weight = call.operands[1], &y = call.operands[2];
    if (x.sizes != y.sizes) return "its result has another shape than x";
    if (weight.sizes != Extents{1, 1, 1, x.sizes[3]}) return "weight is no vector with an element for each column of x";
    for (const OperandInfo& operand : call.operands)
      if (operand.dtype != DType::bf16 && operand.dtype != DType::f16 && operand.dtype != DType::f32)
        return "it takes bf16, f16 and f32";
    return std::nullopt;
  }

  TypePlan plan(const Call& call) const override {
    const Extents& sizes = call.operands[0].sizes;
    // As long as every multiprocessor has work, longer instructions cost fewer hand-offs.
    std::int64_t rows = kMostRows;
    const std::int64_t all = sizes[0] * sizes[1] * sizes[2];
    while (rows > 8 && all / rows < call.sms) rows /= 2;
    TypePlan plan;
    for (std::int64_t outer0 = 0; outer0 < sizes[0]; ++outer0)
      for (std::int64_t outer1 = 0; outer1 < sizes[1]; ++outer1)
        for (std::int64_t row = 0; row < sizes[2]; row += rows)
          plan.tiles.push_back(
              {static_cast<std::int32_t>(outer0), static_cast<std::int32_t>(outer1), static_cast<std::int32_t>(row),
               static_cast<std::int32_t>(std::min(rows, sizes[2] - row)), static_cast<std::int32_t>(sizes[3])});
    plan.constants = {static_cast<float>(call.number("epsilon", 2, 1e-6))};
    plan.bytes = 2 * all * sizes[3] * 2;
    plan.operations = 4 * all * sizes[3];
    return plan;
  }

  std::vector<Touch> touches(const std::vector<OperandInfo>&, const std::vector<std::int32_t>& index) const override {
    const Extents lo{index[0], index[1], index[2], 0};
    const Extents hi{index[0] + 1, index[1] + 1, index[2] + index[3], index[4]};
    return {{.operand = 0, .lo = lo, .hi = hi},
            {.operand = 1, .lo = {0, 0, 0, 0}, .hi = {1, 1, 1, index[4]}},
            {.operand = 2, .lo = lo, .hi = hi}};
  }

  std::vector<std::vector<float>> reference(const Call& call,
                                            const std::vector<std::vector<float>>& inputs) const override {
    const std::vector<float>&x = inputs[0], &weight = inputs[1];
    std::vector<float> y(x.size());
    for (std::size_t first = 0; first < x.size(); first += weight.size()) {
      double squares = 0;
      for (std::size_t i = 0; i < weight.size(); ++i) squares += double{x[first + i]} * x[first + i];
      const double scale =
          1 / std::sqrt(squares / static_cast<double>(weight.size()) + call.number("epsilon", 2, 1e-6));
      for (std::size_t i = 0; i < weight.size(); ++i)
        y[first + i] = static_cast<float>(x[first + i] * scale * weight[i]);
    }
    return {y};
  }

  std::vector<Example> examples() const override {
    std::vector<Example> list;
    auto add = [&](DType dtype, Shape shape, Arguments arguments) {
      list.push_back({.inputs = {{"x", dtype, shape}, {"weight", dtype, {shape.back()}}},
                      .outputs = {{"y", dtype, shape}},
                      .arguments = std::move(arguments)});
    };
    add(DType::bf16, {37, 256}, {{"2", 1e-5}});
    add(DType::bf16, {3, 5, 100}, {});     // rows that are no multiple of 16 bytes
    add(DType::f16, {2, 2, 9, 1000}, {});  // more than one chunk of columns
    add(DType::f32, {40, 24}, {{"epsilon", 0.5}});
    return list;
  }
};

}  // namespace

MEGAKITTENS_PLUGIN(plugin) {
  plugin.add(std::make_shared<RmsNorm>());
}
