#include "support/tiled_products.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "ir/builder.hpp"
#include "ops/gemm/tile.hpp"
#include "ops/instruction_type.hpp"

namespace megakittens::test {

std::string TiledProduct::text() const {
  return fmt::format("{} x {} x {} on {} SMs: {}", m, n, k, sms, fmt::join(tiles, ", "));
}

std::span<const TiledProduct> tiled_products() {
  static const TiledProduct products[] = {
      {256, 256, 64, 2, {"gemm"}},
      {200, 248, 72, 2, {"gemm"}},
      {256, 256, 1024, 4, {"gemm_medium"}},
      {200, 200, 136, 4, {"gemm_medium"}},
      {128, 256, 128, 4, {"gemm_divided"}},
      {120, 248, 392, 4, {"gemm_divided"}},
      {128, 128, 64, 4, {"gemm_narrow"}},
      {104, 120, 200, 4, {"gemm_narrow"}},
      {1096, 136, 1032, 2, {"gemm", "gemm_medium"}},
      {520, 136, 392, 2, {"gemm", "gemm_divided"}},
      {520, 136, 520, 4, {"gemm", "gemm_narrow"}},
      {264, 72, 1544, 2, {"gemm_medium", "gemm_narrow"}},
      {256, 384, 64, 2, {"gemm_192"}, "gemm_192"},
      {256, 192, 1024, 4, {"gemm_192"}, "gemm_192"},
      {200, 328, 392, 2, {"gemm_192"}, "gemm_192"},
  };
  return products;
}

ir::Graph graph_of(const TiledProduct& product, ir::DType dtype, Turned turned) {
  ir::Builder builder("product");
  auto matrix = [&](const char* name, std::int64_t rows, std::int64_t columns, bool stored_turned) {
    if (!stored_turned) return builder.input(name, dtype, {rows, columns});
    ir::Handle handle = builder.input(name, dtype, {columns, rows});
    handle.view = handle.view.transpose(0, 1);
    return handle;
  };
  const ir::Handle a = matrix("a", product.m, product.k, turned.a), b = matrix("b", product.k, product.n, turned.b);
  builder.output(builder.relu(builder.add(builder.matmul(a, b), builder.input("bias", dtype, {product.n}))));
  return builder.build();
}

std::vector<std::string> hopper_tiles() {
  std::vector<std::string> names;
#define MK_GEMM_TILE(name, ...) \
  if (ops::gemm::tile_of(ops::gemm::TileName::name).cores == ops::gemm::Cores::wgmma) names.emplace_back(#name);
#include "ops/gemm/tiles.def"
  return names;
}

std::set<std::string> tiles_of(const program::Program& program) {
  std::set<std::string> tiles;
  for (const program::NodeInfo& node : program.nodes) {
    if (node.op != "matmul") continue;
    std::string name(ops::icode_name(node.icode));
    for (const char* type : {"_bf16", "_f16", "_f32"}) name = name.substr(0, name.find(type));
    tiles.insert(name);
  }
  return tiles;
}

}  // namespace megakittens::test
