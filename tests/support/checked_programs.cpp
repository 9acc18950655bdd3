#include "support/checked_programs.hpp"

#include <algorithm>
#include <random>

#include "ir/builder.hpp"
#include "runtime/values.hpp"
#include "support/error.hpp"
#include "support/graphs.hpp"
#include "support/random_graph.hpp"

namespace megakittens::test {
namespace {

using ir::Builder;
using ir::DType;
using ir::Handle;
using program::Architecture;
using program::QueueMode;

/// relu(x) @ w @ w: bulk stores read by bulk loads, then ordinary stores read by bulk loads.
ir::Graph products() {
  Builder b("products");
  Handle x = b.input("x", DType::bf16, {128, 256}), w = b.input("w", DType::bf16, {256, 256});
  Handle h = b.matmul(b.relu(x), w);
  b.output(b.matmul(h, w));
  return b.build();
}
/// Products of a depth that needs every stage again, in a row, on one SM.
ir::Graph deep_products() {
  Builder b("deep_products");
  Handle x = b.input("x", DType::bf16, {128, 512}), w = b.input("w", DType::bf16, {512, 256});
  for (int i = 0; i < 3; ++i) b.output(b.matmul(x, w));
  return b.build();
}
/// Tiled nodes after each other.
ir::Graph tiles() {
  Builder b("tiles");
  Handle x = b.input("x", DType::bf16, {128, 512});
  for (int i = 0; i < 3; ++i) x = b.pointwise(ir::PointwiseOp::add, x, 1.0);
  b.output(x);
  return b.build();
}
/// A node with an operand that its consumers gather, then one whose bulk copies come to all pages.
ir::Graph gathers() {
  Builder b("gathers");
  const Handle x = b.input("x", DType::bf16, {512, 512}), row = b.input("row", DType::bf16, {512});
  b.output(b.add(x, row));
  b.output(b.add(b.input("y", DType::f32, {512, 512}), b.input("z", DType::f32, {512, 512})));
  return b.build();
}
/// Products read operands without tensor maps as they lie.
runtime::PrepareOptions unpadded(runtime::PrepareOptions options) {
  options.passes.padding = false;
  return options;
}

/// Nodes of the general types only.
ir::Graph general() {
  Builder b("general");
  Handle x = b.input("x", DType::bf16, {33, 45});
  for (int i = 0; i < 4; ++i) x = b.relu(x);
  b.output(b.matmul(x, b.input("w", DType::bf16, {45, 33})));
  return b.build();
}
/// A product reads what a tiled node overwrites, and nothing else orders the two.
ir::Graph reuse() {
  Builder b("reuse");
  Handle x = b.input("x", DType::bf16, {128, 256}), w = b.input("w", DType::bf16, {256, 256});
  b.output(b.matmul(x, w));
  b.output(b.assign(x, b.input("y", DType::bf16, {128, 256})));
  return b.build();
}
/// A tiled node, then one of the general type that passes its pages on unused.
ir::Graph tiles_then_general() {
  Builder b("tiles_then_general");
  const Handle x = b.input("x", DType::bf16, {128, 512}), y = b.input("y", DType::bf16, {33, 45});
  b.output(b.relu(x));
  b.output(b.relu(y));
  b.output(b.matmul(y, b.input("w", DType::bf16, {45, 33})));
  return b.build();
}
/// A product of one tile, then a tiled node that passes on most of the pages that it has used.
ir::Graph then_tiles(const char* name, std::int64_t m, std::int64_t n, std::int64_t k) {
  Builder b(name);
  const Handle x = b.input("x", DType::bf16, {m, k}), w = b.input("w", DType::bf16, {k, n});
  b.output(b.matmul(x, w));
  b.output(b.relu(b.input("y", DType::bf16, {128, 128})));
  return b.build();
}
/// 128 x 256: all pages.
ir::Graph product_then_tiles() {
  return then_tiles("product_then_tiles", 128, 256, 256);
}
/// 128 x 128: stages are pages, and come round again.
ir::Graph medium_then_tiles() {
  return then_tiles("medium_then_tiles", 128, 128, 512);
}
/// 64 x 64: warpgroups exchange sums through a page until it has been written.
ir::Graph sums_then_tiles() {
  return then_tiles("sums_then_tiles", 64, 64, 256);
}
/// A product alone that ends in smaller tiles than it begins with.
ir::Graph two_tiles() {
  Builder b("two_tiles");
  const Handle x = b.input("x", DType::bf16, {520, 392}), w = b.input("w", DType::bf16, {392, 136});
  b.output(b.relu(b.matmul(b.relu(x), w)));
  return b.build();
}
/// The same tensor written twice, with nobody reading in between.
ir::Graph overwrites() {
  Builder b("overwrites");
  Handle x = b.input("x", DType::bf16, {128, 256});
  x = b.assign(x, b.input("y", DType::bf16, {128, 256}));
  b.output(b.relu(b.input("other", DType::bf16, {16})));  // so that the same elements are another SM's
  b.output(b.assign(x, b.input("z", DType::bf16, {128, 256})));
  return b.build();
}
/// A value that lives beside others: relu(x) + x @ w, and what comes between.
ir::Graph residual() {
  Builder b("residual");
  const Handle x = b.input("x", DType::bf16, {128, 256}), w = b.input("w", DType::bf16, {256, 256});
  const Handle r = b.relu(x);
  const Handle h = b.matmul(b.matmul(x, w), w);
  b.output(b.add(r, h));
  return b.build();
}
/// A general node reads what another overwrites by ordinary stores.
ir::Graph general_reuse() {
  Builder b("general_reuse");
  Handle x = b.input("x", DType::bf16, {33, 45});
  b.output(b.relu(x));
  b.output(b.assign(x, b.input("y", DType::bf16, {33, 45})));
  return b.build();
}

ir::Graph mlp_256() {
  return mlp(256, 256, 3);
}
ir::Graph mlp_1024() {
  return mlp(1024, 1024, 3);
}
/// Every step writes the input again, in part and whole.
ir::Graph in_place_chain() {
  Builder b("in_place_chain");
  Handle x = b.input("x", DType::bf16, {128, 256});
  const Handle w = b.input("w", DType::bf16, {256, 256});
  for (int i = 0; i < 4; ++i) {
    const Handle y = b.matmul(b.relu(x), w);
    x = b.assign(x, y);
    Handle top = x;
    top.view = top.view.slice(0, 0, 64, 1);
    x = b.assign(top, b.pointwise(ir::PointwiseOp::add, top, 1.0));
  }
  b.output(x);
  return b.build();
}
/// A chain long enough that every buffer between nodes is used again and again.
ir::Graph reuse_chain() {
  Builder b("reuse_chain");
  Handle x = b.input("x", DType::bf16, {256, 256});
  const Handle w = b.input("w", DType::bf16, {256, 256});
  for (int i = 0; i < 3; ++i) {
    const Handle h = b.matmul(x, w);
    x = b.add(b.relu(h), x);
  }
  b.output(x);
  return b.build();
}
/// Three short chains of products by weights of their own: more tensor maps than travel in a launch's parameters.
ir::Graph many_maps() {
  Builder b("many_maps");
  const Handle x = b.input("x", DType::bf16, {128, 256});
  for (int chain = 0; chain < 4; ++chain) {
    Handle h = x;
    for (int i = 0; i < 3; ++i)
      h = b.relu(b.matmul(h, b.input(fmt::format("w{}{}", chain, i), DType::bf16, {256, 256})));
    b.output(h);
  }
  return b.build();
}
/// Numbers of tiles and sizes that divide by nothing.
ir::Graph odd_tiles() {
  Builder b("odd_tiles");
  Handle x = b.input("x", DType::bf16, {200, 328});
  const Handle h = b.matmul(x, b.input("w", DType::bf16, {328, 520}));
  const Handle g = b.mul(b.relu(h), b.input("gate", DType::bf16, {200, 520}));
  b.output(b.matmul(g, b.input("v", DType::bf16, {520, 72})));
  return b.build();
}
ir::Graph random_of_seed(int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  auto pick = [&](int low, int high) { return low + static_cast<int>(random() % static_cast<unsigned>(high - low)); };
  return random_graph(pick, {.nodes = 7, .extent = 150});
}

runtime::PrepareOptions on(Architecture architecture, std::uint32_t sms, std::uint32_t cluster, QueueMode queue,
                           bool fusion = false, ops::Tiling tiling = ops::Tiling::automatic) {
  return {.architecture = architecture,
          .sms = sms,
          .cluster = cluster,
          .queue = queue,
          .tiling = tiling,
          .passes = {.fusion = fusion}};
}
runtime::PrepareOptions hopper(std::uint32_t sms, QueueMode queue = QueueMode::per_sm) {
  return on(Architecture::sm_90a, sms, 1, queue);
}
runtime::PrepareOptions blackwell(std::uint32_t sms, QueueMode queue = QueueMode::per_sm) {
  return on(Architecture::sm_100a, sms, 1, queue);
}
/// Pairs of CTAs on one tile, fusion on: the seed's tiling.
runtime::PrepareOptions pairs(std::uint32_t sms) {
  return on(Architecture::sm_100a, sms, 2, QueueMode::per_sm, true, ops::Tiling::seed);
}
runtime::PrepareOptions fused(Architecture architecture, QueueMode queue) {
  return on(architecture, 2, 1, queue, true);
}

constexpr QueueMode kGlobal = QueueMode::global;
constexpr Architecture kHopper = Architecture::sm_90a, kBlackwell = Architecture::sm_100a;

}  // namespace

const std::vector<CheckedProgram>& fault_programs() {
  static const std::vector<CheckedProgram> programs = {
      {"products", products, hopper(4)},
      {"deep products", deep_products, hopper(1)},
      {"tiles", tiles, hopper(3)},
      {"tiles on one SM", tiles, hopper(1)},
      {"gathers", gathers, hopper(1)},
      {"general", general, unpadded(hopper(4))},
      {"reuse", reuse, hopper(4)},
      {"tiles, then general", tiles_then_general, unpadded(hopper(1))},
      {"product, then tiles", product_then_tiles, hopper(1)},
      {"128 x 128, then tiles", medium_then_tiles, hopper(1)},
      {"sums, then tiles", sums_then_tiles, hopper(1)},
      {"Blackwell product, then tiles", product_then_tiles, blackwell(1)},
      {"overwrites", overwrites, hopper(3)},
      {"residual", residual, on(kHopper, 4, 1, QueueMode::per_sm, false, ops::Tiling::seed)},
      {"general reuse", general_reuse, hopper(4)},
      {"Blackwell products", products, blackwell(4)},
      {"deep Blackwell products", deep_products, blackwell(1)},
      {"a pair's products", products, pairs(2)},
      {"products, global queue", products, hopper(2, kGlobal)},
  };
  return programs;
}

const std::vector<CheckedProgram>& silent_programs() {
  static const std::vector<CheckedProgram> programs = {
      {"MLP 256", mlp_256, fused(kHopper, QueueMode::per_sm)},
      {"MLP 256, global queue", mlp_256, fused(kHopper, kGlobal)},
      {"MLP 256, Blackwell", mlp_256, fused(kBlackwell, QueueMode::per_sm)},
      {"MLP 256, pairs", mlp_256, pairs(2)},
      {"in-place chain", in_place_chain, hopper(3)},
      {"in-place chain, global queue", in_place_chain, hopper(3, kGlobal)},
      {"buffer-reuse chain", reuse_chain, hopper(4)},
      {"buffer-reuse chain, Blackwell", reuse_chain, fused(kBlackwell, QueueMode::per_sm)},
      {"buffer-reuse chain, pairs", reuse_chain, pairs(4)},
      {"many maps", many_maps, hopper(3)},
      {"odd tile counts", odd_tiles, hopper(3)},
      {"odd tile counts, pairs", odd_tiles, pairs(2)},
      {"two tiles", two_tiles, hopper(2)},
      {"two tiles, global queue", two_tiles, hopper(2, kGlobal)},
      random_program(1),
      random_program(2),
      random_program(3),
      random_program(4),
      {"MLP 1024", mlp_1024, {}},
  };
  return programs;
}

CheckedProgram random_program(int seed) {
  const runtime::PrepareOptions options[] = {pairs(2), hopper(3), hopper(2, kGlobal), blackwell(3)};
  return {fmt::format("random graph {}", seed), [seed] { return random_of_seed(seed); }, options[seed % 4]};
}

const CheckedProgram& checked_program(std::string_view name) {
  for (const auto* list : {&fault_programs(), &silent_programs()})
    for (const CheckedProgram& program : *list)
      if (program.name == name) return program;
  throw InternalError(fmt::format("no checked program is called '{}'", name));
}

program::Program prepare(const CheckedProgram& program) {
  return runtime::prepare(program.graph(), program.options);
}

emulator::StorageContents random_contents(const ir::Graph& graph, const program::Program& program, std::uint64_t seed) {
  const std::vector<std::vector<float>> values = runtime::random_inputs(graph, seed);
  emulator::StorageContents contents(program.storages.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const program::Port& port = program.inputs[i];
    contents[port.storage].resize(program.storages[port.storage].bytes);
    runtime::from_floats(port.type, values[i], contents[port.storage]);
  }
  return contents;
}

}  // namespace megakittens::test
