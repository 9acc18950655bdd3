// A chain of products as the interpreter will run it, written by hand: y = relu(x W) for several layers in one launch.
// Tiles of 128 x 256, a loader warp with a ring of stages through tensor maps, two consumer warpgroups, bulk stores of
// the results, counters per row block between layers.
#pragma once

#include <cstring>

#include "device/arch/sm90/descriptor.cuh"
#include "device/tensor_map_fields.hpp"
#include "fixture.hpp"

namespace megakittens::emulator {

struct Mlp {
  static constexpr std::uint32_t kTileM = 128, kTileN = 256, kTileK = 64, kStages = 3, kWarps = 12;
  static constexpr std::uint32_t kBytesA = kTileM * kTileK * 2, kBytesB = kTileN * kTileK * 2,
                                 kStageBytes = kBytesA + kBytesB;
  static constexpr std::uint32_t kOutBytes = kTileM * kTileN * 2;

  std::uint32_t size, layers, grid;
  std::vector<std::uint16_t> weights;                   // [layer][n][k]: B is K-major
  std::vector<std::vector<std::uint16_t>> activations;  // [layers + 1][m][k]
  std::vector<std::uint32_t> counters;                  // [layer][row block]
  std::vector<device::TensorMap> maps_a, maps_b, maps_out;

  Mlp(std::uint32_t s, std::uint32_t l, std::uint32_t g)
      : size(s), layers(l), grid(g), weights(std::size_t{l} * s * s) {
    activations.assign(l + 1, std::vector<std::uint16_t>(std::size_t{s} * s));
    auto value = [](std::uint32_t i) {
      return static_cast<float>(static_cast<int>(i * 2654435761u >> 24) - 128) / 128.0f;
    };
    for (std::uint32_t i = 0; i < weights.size(); i++) weights[i] = device::to_bf16(value(i) / 16).bits;
    for (std::uint32_t i = 0; i < activations[0].size(); i++) activations[0][i] = device::to_bf16(value(i + 4711)).bits;
    reset();
    for (std::uint32_t i = 0; i < l; i++) {
      maps_a.push_back(map(activations[i].data(), kTileK, kTileM, device::Swizzle::k128B));
      maps_b.push_back(map(weights.data() + std::size_t{i} * s * s, kTileK, 256, device::Swizzle::k128B));
      maps_out.push_back(map(activations[i + 1].data(), 64, 64, device::Swizzle::k128B));
    }
  }
  device::TensorMap map(const void* base, std::uint16_t box_columns, std::uint16_t box_rows,
                        device::Swizzle swizzle) const {
    device::TensorMapFields f{};
    f.base = reinterpret_cast<std::uintptr_t>(base);
    f.dims_minus_one[0] = f.dims_minus_one[1] = size - 1;
    f.type = device::TensorMapType::kBf16;
    f.rank = 2;
    f.strides[0] = std::uint64_t{size} * 2;
    f.magic = device::kTensorMapMagic;
    f.box[0] = box_columns;
    f.box[1] = box_rows;
    f.element_strides[0] = f.element_strides[1] = 1;
    f.swizzle = swizzle;
    device::TensorMap result{};
    std::memcpy(&result, &f, sizeof(f));
    return result;
  }
  void reset() {
    counters.assign(std::size_t{layers} * (size / kTileM) * 32, 0);
    for (std::uint32_t i = 1; i <= layers; i++) activations[i].assign(activations[i].size(), 0);
  }
  LaunchConfig config() {
    LaunchConfig c;
    c.grid = grid;
    c.warps = kWarps;
    c.shared_bytes = 1024 + kStages * kStageBytes + kOutBytes;
    c.buffers = {buffer("weights", weights, Contents::kReadOnly), buffer("counters", counters)};
    for (std::uint32_t i = 0; i <= layers; i++) {
      c.buffers.push_back(buffer("activation " + std::to_string(i), activations[i],
                                 i == 0 ? Contents::kReadOnly : Contents::kUnwritten));
    }
    return c;
  }

  static std::uint32_t base() { return ptx::dynamic_shared_base(); }
  static std::uint32_t full(std::uint32_t s) { return base() + 8 * s; }
  static std::uint32_t empty(std::uint32_t s) { return base() + 64 + 8 * s; }
  static std::uint32_t page_a(std::uint32_t s) { return base() + 1024 + s * kStageBytes; }
  static std::uint32_t page_b(std::uint32_t s) { return page_a(s) + kBytesA; }
  static std::uint32_t page_out() { return base() + 1024 + kStages * kStageBytes; }
  std::uint32_t* counter(std::uint32_t layer, std::uint32_t row) const {
    return const_cast<std::uint32_t*>(&counters[(layer * (size / kTileM) + row) * 32]);
  }
  std::uint32_t tiles_n() const { return size / kTileN; }

  // f(layer, row block, column block, number) for each tile of this CTA, in an order in which no tile waits for a later
  // one.
  template <class F>
  void for_tiles(F f) const {
    const std::uint32_t per_layer = size / kTileM * tiles_n();
    for (std::uint32_t i = ptx::ctaid_x(); i < layers * per_layer; i += grid) {
      device::annotate(nullptr, -1);
      f(i / per_layer, i % per_layer / tiles_n(), i % tiles_n(), i);
    }
  }

  void load() const {
    std::uint32_t step = 0;
    for_tiles([&](std::uint32_t layer, std::uint32_t row, std::uint32_t column, std::uint32_t number) {
      device::annotate("loader", number);
      if (layer > 0) {
        device::note_wait("the row block's counter", tiles_n());
        while (ptx::ld_acquire_gpu_u32(counter(layer - 1, row)) < tiles_n()) {
        }
        device::one_lane([] { ptx::fence_proxy_async_global(); });
      }
      for (std::uint32_t k = 0; k < size; k += kTileK, step++) {
        const std::uint32_t s = step % kStages;
        wait(empty(s), (step / kStages & 1) ^ 1);
        device::one_lane([&] {
          ptx::mbarrier_arrive_expect_tx(full(s), kStageBytes);
          const auto at = [](std::uint32_t x) { return static_cast<std::int32_t>(x); };
          ptx::cp_async_bulk_tensor_g2s(page_a(s), &maps_a[layer], {at(k), at(row * kTileM)}, full(s));
          ptx::cp_async_bulk_tensor_g2s(page_b(s), &maps_b[layer], {at(k), at(column * kTileN)}, full(s));
        });
      }
    });
  }

  void consume(std::uint32_t group) const {
    std::uint32_t step = 0;
    const std::uint32_t warp = device::host::warp_index() % 4;
    for_tiles([&](std::uint32_t layer, std::uint32_t row, std::uint32_t column, std::uint32_t number) {
      device::annotate("consumer", number);
      device::Lanes<float> acc[kTileN / 2];
      for (std::uint32_t k = 0; k < size; k += kTileK, step++) {
        const std::uint32_t s = step % kStages;
        wait(full(s), step / kStages & 1);
        ptx::wgmma_fence();
        const std::uint64_t da = sm90::k_major(page_a(s) + group * 64 * 128, device::Swizzle::k128B);
        const std::uint64_t db = sm90::k_major(page_b(s), device::Swizzle::k128B);
        for (std::uint32_t j = 0; j < kTileK; j += 16) {
          ptx::wgmma<device::Bf16, kTileN, false>(acc, sm90::advance(da, j * 2), sm90::advance(db, j * 2), k + j > 0);
        }
        ptx::wgmma_commit_group();
        ptx::wgmma_wait_group<0>();
        if (warp == 0) device::one_lane([&] { ptx::mbarrier_arrive(empty(s)); });
      }
      store(acc, group, layer, row, column);
    });
  }

  // Four blocks of 64 x 64 a warpgroup, staged in shared memory and stored by one warp.
  void store(const device::Lanes<float> (&acc)[kTileN / 2], std::uint32_t group, std::uint32_t layer, std::uint32_t row,
             std::uint32_t column) const {
    const std::uint32_t warp = device::host::warp_index() % 4, page = page_out() + group * kOutBytes / 2;
    const device::Lanes<std::uint32_t> lane = device::lane_index();
    for (std::uint32_t r = 0; r < kTileN / 2; r += 2) {
      const device::Lanes<std::uint32_t> at =
          (warp * 16u + lane / 4u + r / 2 % 2 * 8u) * 128u + (8 * (r / 4) % 64 + lane % 4u * 2u) * 2u;
      const device::Lanes<std::uint32_t> address =
          device::swizzle_address<device::Swizzle::k128B>(at + (page + r / 32 * 8192));
      ptx::st_shared_u32(address, device::pack_bf16x2(device::max(acc[r], 0.0f), device::max(acc[r + 1], 0.0f)));
    }
    ptx::fence_proxy_async_shared_cta();
    ptx::bar_sync(1 + group, 128);
    if (warp == 0) {
      device::one_lane([&] {
        for (std::uint32_t b = 0; b < 4; b++) {
          const std::int32_t x = static_cast<std::int32_t>(column * kTileN + b * 64),
                             y = static_cast<std::int32_t>(row * kTileM + group * 64);
          ptx::cp_async_bulk_tensor_s2g(&maps_out[layer], {x, y}, page + b * 8192);
        }
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group<0>();
      });
    }
    ptx::bar_sync(3, 256);
    if (warp == 0 && group == 0) device::one_lane([&] { ptx::red_release_gpu_add_u32(counter(layer, row), 1); });
  }

  void operator()() const {
    set_up([] {
      for (std::uint32_t s = 0; s < kStages; s++) {
        ptx::mbarrier_init(full(s), 1);
        ptx::mbarrier_init(empty(s), 2);
        device::name_shared(full(s), "full");
        device::name_shared(empty(s), "empty");
        device::name_shared(page_a(s), "A page");
        device::name_shared(page_b(s), "B page");
      }
    });
    const std::uint32_t warp = device::host::warp_index();
    if (warp < 8) consume(warp / 4);
    if (warp == 8) load();
  }

  /// Largest difference of any layer's output from the plain product of the layer's own input.
  float worst(std::uint32_t rows) const {
    float worst = 0;
    auto f = [](std::uint16_t bits) { return device::to_float(device::Bf16{bits}); };
    for (std::uint32_t layer = 0; layer < layers; layer++) {
      for (std::uint32_t m = 0; m < size; m += size / rows) {
        for (std::uint32_t n = 0; n < size; n++) {
          float sum = 0;
          for (std::uint32_t k = 0; k < size; k++) {
            sum += f(activations[layer][m * size + k]) * f(weights[(std::size_t{layer} * size + n) * size + k]);
          }
          const float got = f(activations[layer + 1][m * size + n]), want = sum > 0 ? sum : 0;
          worst = std::max(worst, std::abs(got - want) / (1 + std::abs(want)));
        }
      }
    }
    return worst;
  }
};

}  // namespace megakittens::emulator
