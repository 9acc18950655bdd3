#include <gtest/gtest.h>

#include "ir/builder.hpp"
#include "ops/instruction_type.hpp"
#include "support/error.hpp"

namespace megakittens::ops {
namespace {

TEST(StrideLimit, columns_that_lie_too_far_apart_are_refused_and_not_cut_to_32_bits) {
  // Only the strides matter: nothing is allocated.
  ir::Builder b;
  ir::Tensor far{.dtype = ir::DType::f32, .shape = {64, 4}, .strides = {1, std::int64_t{1} << 30}, .device = {}};
  b.output(b.relu(b.input("far", far)));
  ir::Graph graph = b.build();
  try {
    type_for(graph, graph.nodes[0], {});
    FAIL() << "taken";
  } catch (const UnsupportedError& error) {
    EXPECT_NE(std::string(error.what()).find("4294967296 bytes apart"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace megakittens::ops
