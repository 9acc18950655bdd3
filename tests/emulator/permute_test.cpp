// Copies and casts to another order of dimensions, through scheduler and interpreter, against the reference.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "ir/builder.hpp"
#include "ops/icodes.hpp"
#include "support/graphs.hpp"
#include "support/run_graph.hpp"

namespace megakittens::test {
namespace {

using ir::DType;
using ir::Extents;
using ir::Handle;
using Order = std::vector<std::int64_t>;

constexpr DType kTypes[] = {DType::bf16, DType::f16, DType::f32, DType::i64, DType::i32, DType::boolean};
constexpr DType kResults[] = {DType::bf16, DType::f16, DType::f32, DType::boolean};

struct Case {
  Extents shape;
  Order order;
};

/// Transposes, stacks of them, images with three channels either way, heads of a few elements, and ranks up to four in
/// every other order; extents that fit tiles, that leave a part of one, and that fit no vector.
const Case kCases[] = {
    {{64, 64}, {1, 0}},
    {{192, 320}, {1, 0}},
    {{100, 72}, {1, 0}},
    {{33, 131}, {1, 0}},
    {{1000, 3}, {1, 0}},
    {{2, 4096}, {1, 0}},
    {{5, 48, 80}, {0, 2, 1}},
    {{3, 17, 9}, {0, 2, 1}},
    {{2, 3, 20, 36}, {0, 2, 3, 1}},
    {{2, 20, 36, 3}, {0, 3, 1, 2}},
    {{2, 24, 16, 8}, {0, 3, 1, 2}},
    {{40, 24, 8}, {1, 0, 2}},
    {{33, 12, 16}, {1, 0, 2}},
    {{20, 17, 3}, {1, 0, 2}},
    {{9, 14, 96}, {1, 0, 2}},
    {{16, 12, 10, 8}, {3, 2, 1, 0}},
    {{6, 5, 7, 9}, {2, 0, 3, 1}},
    {{700, 4, 4}, {0, 2, 1}},
    {{4, 4, 4, 60}, {2, 1, 0, 3}},
    {{2, 3, 2, 2}, {3, 2, 1, 0}},
};

/// Instructions that are permutations, and others but noops.
std::pair<int, int> counts(const program::Program& program) {
  std::pair<int, int> counts;
  for (const program::Instruction& instruction : program.instructions)
    if (instruction.icode != ops::kIcode_noop)
      ++(instruction.icode == ops::kIcode_permute ? counts.first : counts.second);
  return counts;
}

/// The checked run's first problem; a permutation must have been what ran.
std::string run_permuted(const ir::Graph& graph, const RunSetup& setup) {
  GraphRun run(graph, setup);
  const auto [permutations, others] = counts(run.program());
  if (permutations == 0 || others != 0) return fmt::format("{} permutations, {} others", permutations, others);
  return problem_of(run.launch(), {});
}

ir::Graph permuted(DType dtype, const Case& c) {
  ir::Builder b;
  const Handle x = b.input("x", dtype, c.shape);
  b.output(b.copy({x.value, x.view.permute(c.order)}));
  return b.build();
}

class PermuteOf : public testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(Types, PermuteOf, testing::ValuesIn(kTypes),
                         [](const auto& param) { return std::string(ir::name_of(param.param)); });

TEST_P(PermuteOf, copies_every_order_and_size) {
  for (const Case& c : kCases)
    EXPECT_EQ(run_permuted(permuted(GetParam(), c), small_machine()), "") << ir::to_string(c.shape);
}

TEST_P(PermuteOf, casts_on_the_way) {
  for (const DType to : kResults) {
    if (to == GetParam()) continue;
    for (const Case& c : {kCases[1], kCases[3], kCases[8], kCases[9], kCases[11], kCases[16]}) {
      ir::Builder b;
      const Handle x = b.input("x", GetParam(), c.shape);
      b.output(b.cast({x.value, x.view.permute(c.order)}, to));
      EXPECT_EQ(run_permuted(b.build(), small_machine()), "") << ir::name_of(to) << ir::to_string(c.shape);
    }
  }
}

TEST_P(PermuteOf, reads_inputs_of_any_alignment) {
  for (const int shift : {1, 2, 4}) {
    RunSetup setup = small_machine();
    setup.misaligned = shift;
    EXPECT_EQ(run_permuted(permuted(GetParam(), {{72, 200}, {1, 0}}), setup), "") << shift;
    EXPECT_EQ(run_permuted(permuted(GetParam(), {{12, 10, 8}, {1, 0, 2}}), setup), "") << shift;
  }
}

TEST_P(PermuteOf, reads_slices_and_steps) {
  ir::Builder b;
  const Handle x = b.input("x", GetParam(), {40, 30, 24});
  auto copy = [&](const ir::View& view) { b.output(b.copy({x.value, view})); };
  copy(x.view.slice(2, 3, 20).permute({2, 0, 1}));
  copy(x.view.slice(2, 0, 24, 2).permute({1, 2, 0}));
  copy(x.view.slice(0, 1, 40, 3).permute({1, 0, 2}));
  copy(x.view.select(1, 7).transpose(0, 1));
  copy(x.view.slice(2, 8, 16));
  EXPECT_EQ(run_permuted(b.build(), small_machine()), "");
}

TEST(Permute, leaves_long_rows_to_others_but_for_integers) {
  const Case rows[] = {{{4, 4, 304}, {1, 0, 2}}, {{20, 300}, {0, 1}}, {{7}, {0}}, {{}, {}}};
  for (const Case& c : rows) {
    EXPECT_EQ(counts(GraphRun(permuted(DType::bf16, c), small_machine()).program()).first, 0) << ir::to_string(c.shape);
    EXPECT_EQ(run_permuted(permuted(DType::i64, c), small_machine()), "") << ir::to_string(c.shape);
    EXPECT_EQ(run_permuted(permuted(DType::i32, c), small_machine()), "") << ir::to_string(c.shape);
  }
}

ir::Graph padded(DType dtype, std::int64_t rows, std::int64_t columns, std::int64_t pitch, std::int64_t start) {
  ir::Builder b;
  const Handle x = b.input("x", dtype, {rows, columns}), y = b.input("y", dtype, {rows, pitch});
  b.output(b.assign({y.value, y.view.slice(1, start, start + columns)}, x));
  return b.build();
}

TEST(Permute, moves_rows_of_any_size_into_rows_of_another_pitch) {
  for (const DType dtype : kTypes) {
    for (const std::int64_t columns : {1, 3, 7, 9, 63, 131, 1733}) {
      for (const std::int64_t rows : {2, 5, 70}) {
        const std::int64_t pitch = (columns + 7) / 8 * 8;
        EXPECT_EQ(run_permuted(padded(dtype, rows, columns, pitch, 0), small_machine()), "")
            << ir::name_of(dtype) << " " << rows << " x " << columns;
        EXPECT_EQ(run_permuted(padded(dtype, rows, columns, pitch + 8, 1), small_machine()), "")
            << ir::name_of(dtype) << " " << rows << " x " << columns << " from 1 on";
      }
    }
  }
}

TEST(Permute, takes_rows_out_of_a_pitch_and_casts_them) {
  for (const DType from : {DType::bf16, DType::f16, DType::f32, DType::boolean}) {
    for (const DType to : kResults) {
      for (const std::int64_t columns : {1, 5, 97, 257}) {
        ir::Builder b;
        const Handle x = b.input("x", from, {9, columns + 11});
        const Handle rows{x.value, x.view.slice(1, 1, 1 + columns)};
        b.output(from == to ? b.copy(rows) : b.cast(rows, to));
        EXPECT_EQ(run_permuted(b.build(), small_machine()), "")
            << ir::name_of(from) << " to " << ir::name_of(to) << " " << columns;
      }
    }
  }
}

TEST(Permute, moves_lists_that_begin_anywhere_or_have_a_step) {
  for (const DType dtype : kTypes) {
    for (const std::int64_t step : {1, 2, 3, 8}) {
      for (const std::int64_t size : {2, 15, 700, 9001}) {
        ir::Builder b;
        const Handle x = b.input("x", dtype, {1 + size * step});
        b.output(b.copy({x.value, x.view.slice(0, 1, 1 + size * step, step)}));
        EXPECT_EQ(run_permuted(b.build(), small_machine()), "") << ir::name_of(dtype) << " " << size << " by " << step;
      }
    }
  }
}

/// Copies with rows of any size between a list, a pitch and a transpose of either, at any place in 16 bytes.
TEST(Permute, of_random_pitches_and_places_is_exact) {
  std::mt19937 random(23);
  auto pick = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  int permutations = 0;
  for (int round = 0; round < 200; ++round) {
    const DType from = kTypes[pick(0, 5)], to = pick(0, 2) != 0 ? from : kResults[pick(0, 3)];
    const Extents sizes{pick(1, 3), pick(1, 3) == 1 ? 1 : pick(2, 60), pick(0, 3) == 0 ? pick(1, 8) : pick(1, 300)};
    const std::int64_t start = pick(0, 2) == 0 ? pick(1, 9) : 0, after = pick(0, 9);
    const bool transposed = pick(0, 2) == 0, broadcast = pick(0, 5) == 0, in_place = from == to && pick(0, 1) == 0;
    auto pitched = [&](const Extents& shape) {
      return Extents{broadcast && !in_place ? 1 : shape[0], shape[1], start + shape[2] + after};
    };
    auto inner = [&](const Handle& whole, const Extents& shape) {
      return whole.view.slice(2, start, start + shape[2]).expand(shape);
    };
    ir::Builder b;
    const Extents turned{sizes[0], sizes[2], sizes[1]};
    const Extents& source = transposed ? turned : sizes;
    if (in_place) {
      const Handle x = b.input("x", from, source), y = b.input("y", from, pitched(sizes));
      b.output(b.assign({y.value, inner(y, sizes)}, {x.value, transposed ? x.view.permute({0, 2, 1}) : x.view}));
    } else {
      const Handle x = b.input("x", from, pitched(source));
      const ir::View view = inner(x, source);
      const Handle y{x.value, transposed ? view.permute({0, 2, 1}) : view};
      b.output(from == to ? b.copy(y) : b.cast(y, to));
    }
    RunSetup setup = small_machine();
    setup.schedule.config.sms = static_cast<std::uint32_t>(pick(1, 5));
    setup.misaligned = pick(0, 3) == 0 ? pick(1, 7) : 0;
    setup.run.seed = static_cast<std::uint64_t>(round);
    GraphRun run(b.build(), setup);
    permutations += counts(run.program()).first > 0 ? 1 : 0;
    EXPECT_EQ(problem_of(run.launch(), {}), "")
        << ir::name_of(from) << " to " << ir::name_of(to) << " of " << ir::to_string(sizes) << " round " << round;
  }
  EXPECT_GT(permutations, 120);
}

TEST(Permute, writes_what_a_view_shows_in_place) {
  for (const DType dtype : {DType::bf16, DType::f32}) {
    ir::Builder b;
    const Handle x = b.input("x", dtype, {70, 130}), y = b.input("y", dtype, {130, 100});
    b.output(b.assign({y.value, y.view.slice(1, 9, 79).transpose(0, 1)}, x));
    EXPECT_EQ(run_permuted(b.build(), small_machine()), "") << ir::name_of(dtype);
  }
}

TEST(Permute, hands_its_result_on_and_waits_for_its_operand) {
  ir::Builder b;
  const Handle x = b.input("x", DType::bf16, {128, 192});
  const Handle y = b.copy({b.add(x, x).value, x.view.transpose(0, 1)});
  const Handle z = b.relu(y);
  b.output(b.copy({z.value, z.view.transpose(0, 1)}));
  b.output(b.matmul(b.copy({x.value, x.view.transpose(0, 1)}), x));
  RunSetup setup = small_machine();
  for (setup.run.seed = 1; setup.run.seed <= 10; ++setup.run.seed)
    EXPECT_EQ(run_and_compare(b.graph(), setup, product_tolerance(DType::bf16, 128)), "") << setup.run.seed;
}

TEST(Permute, works_on_blackwell) {
  for (const DType dtype : kTypes) {
    RunSetup setup = small_machine();
    setup.schedule.config.architecture = program::Architecture::sm_100a;
    EXPECT_EQ(run_permuted(permuted(dtype, {{100, 72}, {1, 0}}), setup), "") << ir::name_of(dtype);
  }
}

TEST(Permute, of_random_shapes_and_orders_is_exact) {
  std::mt19937 random(7);
  auto pick = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  int permutations = 0;
  for (int round = 0; round < 60; ++round) {
    Case c;
    const int rank = pick(2, 4);
    for (int d = 0; d < rank; ++d) {
      c.shape.push_back(pick(0, 2) == 0 ? pick(1, 9) : pick(1, rank == 2 ? 150 : rank == 3 ? 50 : 16));
      c.order.push_back(d);
    }
    std::shuffle(c.order.begin(), c.order.end(), random);
    RunSetup setup = small_machine();
    setup.schedule.config.sms = static_cast<std::uint32_t>(pick(1, 5));
    GraphRun run(permuted(kTypes[pick(0, 5)], c), setup);
    permutations += counts(run.program()).first > 0 ? 1 : 0;
    EXPECT_EQ(problem_of(run.launch(), {}), "") << ir::to_string(c.shape) << " round " << round;
  }
  EXPECT_GT(permutations, 20);
}

/// A slice of each dimension, its step up to 3, of an input that is as much larger.
struct Slice {
  std::int64_t start, size, step, after;
};

/// Five dimensions have a pair that stays together, since no type takes five.
Order random_order(int rank, std::mt19937& random) {
  std::vector<Order> groups;
  for (int d = 0; d < rank; ++d) groups.push_back({d});
  if (rank == 5) {
    groups.pop_back();
    groups.back().push_back(4);
  }
  std::shuffle(groups.begin(), groups.end(), random);
  Order order;
  for (const Order& group : groups) order.insert(order.end(), group.begin(), group.end());
  return order;
}

TEST(Permute, of_random_slices_steps_and_casts_up_to_five_dimensions_is_exact) {
  std::mt19937 random(11);
  auto pick = [&](int low, int high) { return std::uniform_int_distribution(low, high)(random); };
  constexpr int kMost[] = {0, 400, 130, 40, 14, 7};
  int permutations = 0;
  for (int round = 0; round < 150; ++round) {
    const int rank = pick(1, 5);
    Extents shape;
    std::vector<Slice> slices;
    for (int d = 0; d < rank; ++d) {
      Slice slice{.start = 0, .size = pick(1, pick(0, 2) == 0 ? 5 : kMost[rank]), .step = 1, .after = 0};
      if (pick(0, 2) == 0 && (rank < 5 || d < 3))
        slice = {.start = pick(0, 9), .size = slice.size, .step = pick(1, 3), .after = pick(0, 5)};
      slices.push_back(slice);
      shape.push_back(slice.start + (slice.size - 1) * slice.step + 1 + slice.after);
    }
    const DType from = kTypes[pick(0, 5)], to = pick(0, 1) == 0 ? from : kResults[pick(0, 3)];
    ir::Builder b;
    const Handle x = b.input("x", from, shape);
    ir::View view = x.view;
    for (int d = 0; d < rank; ++d)
      view =
          view.slice(d, slices[d].start, slices[d].start + (slices[d].size - 1) * slices[d].step + 1, slices[d].step);
    const Handle y{x.value, view.permute(random_order(rank, random))};
    b.output(from == to ? b.copy(y) : b.cast(y, to));
    RunSetup setup = small_machine();
    setup.schedule.config.sms = static_cast<std::uint32_t>(pick(1, 5));
    setup.misaligned = pick(0, 3) == 0 ? pick(1, 7) : 0;
    setup.run.seed = static_cast<std::uint64_t>(round);
    GraphRun run(b.build(), setup);
    permutations += counts(run.program()).first > 0 ? 1 : 0;
    EXPECT_EQ(problem_of(run.launch(), {}), "")
        << ir::name_of(from) << " to " << ir::name_of(to) << " of " << ir::to_string(shape) << " round " << round;
  }
  EXPECT_GT(permutations, 50);
}

}  // namespace
}  // namespace megakittens::test
