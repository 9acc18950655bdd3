// Products of which it is known into which of Hopper's tiles the scheduler cuts them, by their cost or as asked.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.hpp"
#include "program/program.hpp"

namespace megakittens::test {

/// [m, k] @ [k, n], alone in its graph, on `sms` SMs in clusters of two.
struct TiledProduct {
  std::int64_t m, n, k;
  std::uint32_t sms;
  std::set<std::string> tiles;  ///< as tiles_of() names them
  std::string asked{};          ///< schedule::ScheduleOptions::tile

  std::string text() const;
};

/// Every tile, whole and with edges, and pairs of them in one product.
std::span<const TiledProduct> tiled_products();

/// The operands that are stored transposed: a as [k, m], b as [n, k].
struct Turned {
  bool a = false;
  bool b = false;
};
inline constexpr Turned kTurns[] = {{false, false}, {false, true}, {true, false}, {true, true}};

/// relu(a @ b + bias): whole tiles in bf16 have a short epilogue, the others run the byte code.
ir::Graph graph_of(const TiledProduct& product, ir::DType dtype, Turned turned);

/// The names of Hopper's tiles, in the order of ops/gemm/tiles.def.
std::vector<std::string> hopper_tiles();

/// Of the products in a program: "gemm", "gemm_medium", ...: icodes without type and layout.
std::set<std::string> tiles_of(const program::Program& program);

}  // namespace megakittens::test
