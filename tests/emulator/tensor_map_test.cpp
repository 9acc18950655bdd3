#include <cstring>

#include "device/tensor_map_fields.hpp"
#include "fixture.hpp"

namespace megakittens::emulator {
namespace {

using device::OutOfBoundsFill;
using device::Swizzle;
using device::TensorMap;
using device::TensorMapFields;
using device::TensorMapType;

// A row-major matrix of 16-bit elements and a map of boxes over it.
struct Matrix {
  std::uint32_t rows, columns, pitch;  // elements
  std::vector<std::uint16_t> data;

  Matrix(std::uint32_t r, std::uint32_t c, std::uint32_t p) : rows(r), columns(c), pitch(p), data(std::size_t{r} * p) {
    for (std::size_t i = 0; i < data.size(); i++) data[i] = static_cast<std::uint16_t>(i + 1);
  }
  TensorMap map(std::uint16_t box_columns, std::uint16_t box_rows, Swizzle swizzle) const {
    TensorMapFields f{};
    f.base = reinterpret_cast<std::uintptr_t>(data.data());
    f.dims_minus_one[0] = columns - 1;
    f.dims_minus_one[1] = rows - 1;
    f.type = TensorMapType::kBf16;
    f.rank = 2;
    f.strides[0] = std::uint64_t{pitch} * 2;
    f.magic = device::kTensorMapMagic;
    f.box[0] = box_columns;
    f.box[1] = box_rows;
    f.element_strides[0] = f.element_strides[1] = 1;
    f.swizzle = swizzle;
    f.fill = OutOfBoundsFill::kZero;
    TensorMap map{};
    std::memcpy(&map, &f, sizeof(f));
    return map;
  }
};

// Loads one box and copies its bytes, as they lie in shared memory, to `out`.
struct LoadBox {
  const TensorMap& map;
  std::int32_t column, row;
  std::uint32_t bytes;
  std::uint32_t* out;

  void operator()() const {
    const std::uint32_t barrier = ptx::dynamic_shared_base(), page = barrier + 1024;
    set_up([&] { ptx::mbarrier_init(barrier, 1); });
    device::one_lane([&] {
      ptx::mbarrier_arrive_expect_tx(barrier, bytes);
      ptx::cp_async_bulk_tensor_g2s(page, &map, {column, row}, barrier);
    });
    wait(barrier, 0);
    for (std::uint32_t i = 0; i < bytes; i += 128) {
      const device::Lanes<std::uint32_t> offset = device::lane_index() * 4u + i;
      ptx::st_global_u32(out, offset, ptx::ld_shared_u32(page + offset));
    }
  }
};

LaunchConfig config_for(Matrix& matrix, std::vector<std::uint16_t>& out) {
  LaunchConfig config;
  config.shared_bytes = 1024 + 32 * 1024;
  config.buffers = {buffer("matrix", matrix.data), buffer("out", out, Contents::kUnwritten)};
  return config;
}

class Swizzles : public testing::TestWithParam<Swizzle> {};

TEST_P(Swizzles, place_each_chunk_where_its_row_says) {
  const std::uint32_t width = device::swizzle_row_bytes(GetParam()) / 2;  // elements
  constexpr std::uint16_t kRows = 32;
  Matrix matrix(64, 128, 136);
  std::vector<std::uint16_t> out(width * kRows);
  const TensorMap map = matrix.map(static_cast<std::uint16_t>(width), kRows, GetParam());
  const LoadBox kernel{map, 64, 16, static_cast<std::uint32_t>(out.size() * 2),
                       reinterpret_cast<std::uint32_t*>(out.data())};
  expect_good(
      config_for(matrix, out), kernel, [&] { out.assign(out.size(), 0); },
      [&] {
        for (std::uint32_t r = 0; r < kRows; r++) {
          for (std::uint32_t c = 0; c < width; c++) {
            // The pattern by its definition: the 16-byte chunk is exchanged by the 128-byte line's number.
            const std::uint32_t byte = r * width * 2 + c * 2, line = byte / 128;
            const std::uint32_t mask = (1u << static_cast<int>(GetParam())) - 1;
            const std::uint32_t at = byte ^ ((line & mask) << 4);
            ASSERT_EQ(out[at / 2], matrix.data[(16 + r) * matrix.pitch + 64 + c]) << r << " " << c;
          }
        }
      });
}
INSTANTIATE_TEST_SUITE_P(All, Swizzles, testing::Values(Swizzle::kNone, Swizzle::k32B, Swizzle::k64B, Swizzle::k128B));

TEST(TensorMaps, fill_what_lies_outside_with_zero_on_every_side) {
  Matrix matrix(20, 40, 40);
  std::vector<std::uint16_t> out(64 * 32);
  const TensorMap map = matrix.map(64, 32, Swizzle::kNone);
  const LoadBox kernel{map, -8, -4, 64 * 32 * 2, reinterpret_cast<std::uint32_t*>(out.data())};
  expect_good(
      config_for(matrix, out), kernel, [&] { out.assign(out.size(), 9); },
      [&] {
        for (int r = 0; r < 32; r++) {
          for (int c = 0; c < 64; c++) {
            const int row = r - 4, column = c - 8;
            const bool inside = row >= 0 && row < 20 && column >= 0 && column < 40;
            ASSERT_EQ(out[r * 64 + c], inside ? matrix.data[row * 40 + column] : 0) << r << " " << c;
          }
        }
      });
}

TEST(TensorMaps, store_through_a_swizzle_what_was_loaded_and_leave_the_outside_alone) {
  Matrix from(64, 64, 64), to(40, 64, 72);
  const TensorMap load = from.map(64, 64, Swizzle::k128B), store = to.map(64, 64, Swizzle::k128B);
  LaunchConfig config;
  config.shared_bytes = 1024 + 64 * 128;
  config.buffers = {buffer("from", from.data), buffer("to", to.data)};
  auto kernel = [&] {
    const std::uint32_t barrier = ptx::dynamic_shared_base(), page = barrier + 1024;
    set_up([&] { ptx::mbarrier_init(barrier, 1); });
    device::one_lane([&] {
      ptx::mbarrier_arrive_expect_tx(barrier, 64 * 128);
      ptx::cp_async_bulk_tensor_g2s(page, &load, {0, 0}, barrier);
      wait(barrier, 0);
      ptx::cp_async_bulk_tensor_s2g(&store, {0, 0}, page);
      ptx::cp_async_bulk_commit_group();
      ptx::cp_async_bulk_wait_group<0>();
    });
  };
  expect_good(
      config, kernel, [&] { to.data.assign(to.data.size(), 0xabcd); },
      [&] {
        for (int r = 0; r < 40; r++) {
          for (int c = 0; c < 72; c++) ASSERT_EQ(to.data[r * 72 + c], c < 64 ? from.data[r * 64 + c] : 0xabcd);
        }
      });
}

TEST(TensorMaps, that_nobody_filled_are_refused) {
  Matrix matrix(64, 64, 64);
  std::vector<std::uint16_t> out(64 * 64);
  const TensorMap map{};
  LaunchConfig config = config_for(matrix, out);
  const Report report = run(config, [&] {
    set_up([] { ptx::mbarrier_init(ptx::dynamic_shared_base(), 1); });
    device::one_lane([&] {
      ptx::cp_async_bulk_tensor_g2s(ptx::dynamic_shared_base() + 1024, &map, {0, 0}, ptx::dynamic_shared_base());
    });
  });
  EXPECT_TRUE(report.has(Rule::kBadOperand)) << report.text();
  EXPECT_THAT(report.text(), testing::HasSubstr("never filled"));
}

TEST(TensorMaps, in_global_memory_want_their_own_fence) {
  Matrix matrix(64, 64, 64);
  std::vector<std::uint16_t> out(64 * 64);
  alignas(64) TensorMap maps[1] = {matrix.map(64, 64, Swizzle::k128B)};
  LaunchConfig config = config_for(matrix, out);
  config.buffers.push_back({"maps", maps, sizeof(maps), Contents::kReadOnly});
  for (bool fenced : {true, false}) {
    const LoadBox load{maps[0], 0, 0, 64 * 64 * 2, reinterpret_cast<std::uint32_t*>(out.data())};
    const Report report = run(config, [&] {
      if (fenced) ptx::fence_proxy_tensormap_acquire_sys(maps);
      load();
    });
    EXPECT_EQ(report.has(Rule::kTensorMapFence), !fenced) << report.text();
  }
}

}  // namespace
}  // namespace megakittens::emulator
