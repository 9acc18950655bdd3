#include "support/user_type.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "ir/builder.hpp"
#include "ops/user/registry.hpp"
#include "support/error.hpp"
#include "support/files.hpp"

namespace megakittens::test {

namespace fs = std::filesystem;

std::string doubled_device_half(const std::string& value, const std::string& before) {
  return R"(#pragma once
#include "ops/user/direct.cuh"

namespace megakittens::user {

struct Doubled : ops::Direct {
  template <class B>
  MK_DEVICE void consume(device::Context<B>& c) const {
    using device::Lanes;
    )" + before +
         R"(
    const ops::GlobalOperand from(c.window(0)), to(c.window(1));
    const int32_t end_row = c.index(2) + c.index(3), columns = c.index(4);
    MK_ROLLED for (int32_t row = c.index(2) + static_cast<int32_t>(c.warp); row < end_row; row += 8)
      MK_ROLLED for (int32_t first = 0; first < columns; first += 32) {
        const Lanes<int32_t> column = device::convert<int32_t>(device::lane_index()) + first;
        const Lanes<bool> mask = column < columns;
        const Lanes<float> x = ops::load_value(from.type, from.base, from.offset(Lanes<int32_t>(row), column), mask);
        ops::store_value(to.type, to.base, to.offset(Lanes<int32_t>(row), column), )" +
         value + R"(, mask);
      }
    end(c);
  }
};

}  // namespace megakittens::user
)";
}

std::optional<std::string> Doubled::unsuited(const Call& call) const {
  if (refuse) return refuse(call);
  return std::nullopt;
}

TypePlan Doubled::plan(const Call& call) const {
  const Extents& sizes = call.operands[0].sizes;
  TypePlan plan;
  for (std::int64_t row = 0; row < sizes[2]; row += 2)
    plan.tiles.push_back({0, 0, static_cast<std::int32_t>(row),
                          static_cast<std::int32_t>(std::min<std::int64_t>(2, sizes[2] - row)),
                          static_cast<std::int32_t>(sizes[3])});
  return change_plan ? change_plan(plan) : plan;
}

std::vector<Touch> Doubled::touches(const std::vector<OperandInfo>&, const std::vector<std::int32_t>& index) const {
  const Extents lo{0, 0, index[2], 0};
  const Extents hi{1, 1, index[2] + index[3], index[4]};
  std::vector<Touch> touches{{.operand = 0, .lo = lo, .hi = hi}, {.operand = 1, .lo = lo, .hi = hi}};
  return change_touches ? change_touches(touches) : touches;
}

std::vector<std::vector<float>> Doubled::reference(const Call&, const std::vector<std::vector<float>>& inputs) const {
  std::vector<float> y = inputs[0];
  for (float& value : y) value *= 2;
  return {y};
}

UserTypes::UserTypes()
    : folder(fs::path(testing::TempDir()) / fmt::format("mk_user_types_{}", ::getpid())),
      cache_("MEGAKITTENS_CACHE_DIR", (folder / "cache").string()) {
  fs::remove_all(folder);
  fs::create_directories(folder);
  write_device_half(doubled_device_half());
}

UserTypes::~UserTypes() {
  for (const ops::UserType* type : ops::user_types()) ops::unregister_user_type(std::string(type->name()));
  fs::remove_all(folder);
}

std::shared_ptr<Doubled> UserTypes::doubled() const {
  auto type = std::make_shared<Doubled>();
  type->path = folder / "doubled.cuh";
  type->calls = {{.inputs = {{"x", DType::f32, {5, 40}}}, .outputs = {{"y", DType::f32, {5, 40}}}, .arguments = {}}};
  return type;
}

void UserTypes::write_device_half(const std::string& text) const {
  write_file(folder / "doubled.cuh", text);
}

ir::Graph doubled_graph(std::int64_t rows, std::int64_t columns) {
  ir::Builder builder("doubled");
  const ir::Handle x = builder.input("x", ir::DType::f32, {rows, columns});
  builder.at("twice", "model.py:7 in f");
  builder.output(
      builder.call("megakittens_test.doubled.default", {x}, ir::Tensor::dense(ir::DType::f32, {rows, columns})));
  return builder.build();
}

}  // namespace megakittens::test
