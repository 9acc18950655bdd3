#include <algorithm>

#include "gpu/twins/tensor.cuh"
#include "support/twins/cases.hpp"

namespace megakittens::test {
namespace {

using device::OutOfBoundsFill;
using device::Swizzle;
using device::TensorMapFields;
using device::TensorMapType;

TwinCase copy(const std::string& kernel, void (*host)(const twins::Parameters&), const std::string& what,
              std::uint32_t cluster = 1) {
  TwinCase twin;
  twin.kernel = kernel;
  twin.name = fmt::format("{}, {}", kernel, what);
  twin.host = host;
  twin.grid = twin.cluster = cluster;
  return twin;
}

/// A dense tensor of `dims` elements, fastest first, whose rows are padded to 16 bytes; a box of `box`.
struct Box {
  TensorMapType type = TensorMapType::kBf16;
  std::vector<std::uint32_t> dims = {};
  std::vector<std::uint32_t> box = {};
  std::vector<std::int32_t> at = {};
  Swizzle swizzle = Swizzle::kNone;
  OutOfBoundsFill fill = OutOfBoundsFill::kZero;
  std::vector<std::uint32_t> steps = {};

  TensorMapFields fields() const {
    TensorMapFields f{};
    f.type = type;
    f.rank = static_cast<std::uint8_t>(dims.size());
    std::uint64_t stride = (std::uint64_t{dims[0]} * device::element_bytes(type) + 31) / 16 * 16;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      f.dims_minus_one[d] = dims[d] - 1;
      f.box[d] = static_cast<std::uint16_t>(box[d]);
      f.element_strides[d] = static_cast<std::uint8_t>(d < steps.size() ? steps[d] : 1);
      if (d + 1 < dims.size()) f.strides[d] = stride;
      stride *= d + 1 < dims.size() ? dims[d + 1] : 1;
    }
    f.swizzle = swizzle;
    f.fill = fill;
    return f;
  }
  std::uint64_t bytes() const {
    const TensorMapFields f = fields();
    if (f.rank == 1) return (std::uint64_t{dims[0]} * device::element_bytes(type) + 31) / 16 * 16;
    return f.strides[f.rank - 2] * dims.back();
  }
  TwinCase& put_into(TwinCase& twin, bool of_output) const {
    twin.map = TwinMap{fields(), of_output};
    twin.a = device::box_bytes(twin.map->fields);
    twin.c = twin.map->fields.rank;
    twin.at = at;
    twin.shared_bytes = 2048 + twin.a;
    return twin;
  }
};

/// What a load and a store are tried on.
std::vector<std::pair<std::string, Box>> boxes() {
  std::vector<std::pair<std::string, Box>> all;
  const std::pair<const char*, TensorMapType> types[] = {{"u8", TensorMapType::kU8},   {"u16", TensorMapType::kU16},
                                                         {"u32", TensorMapType::kU32}, {"i32", TensorMapType::kI32},
                                                         {"u64", TensorMapType::kU64}, {"i64", TensorMapType::kI64},
                                                         {"f16", TensorMapType::kF16}, {"f32", TensorMapType::kF32},
                                                         {"f64", TensorMapType::kF64}, {"bf16", TensorMapType::kBf16}};
  for (const auto& [name, type] : types) {
    const auto at = static_cast<std::int32_t>(16 / device::element_bytes(type));
    all.push_back({name, {type, {50, 20}, {16, 8}, {at, 5}}});
  }
  all.push_back({"rank 1", {.dims = {100}, .box = {64}, .at = {16}}});
  all.push_back({"rank 1 over the end", {.dims = {100}, .box = {64}, .at = {72}}});
  all.push_back({"rank 3", {.dims = {40, 7, 5}, .box = {16, 4, 3}, .at = {8, 2, 1}}});
  all.push_back({"rank 4", {.dims = {40, 7, 5, 3}, .box = {16, 4, 3, 2}, .at = {8, 2, 1, 1}}});
  all.push_back({"rank 5", {.dims = {24, 5, 4, 3, 3}, .box = {16, 2, 3, 2, 2}, .at = {8, 2, 1, 1, 0}}});
  all.push_back({"rank 5 over all ends", {.dims = {24, 5, 4, 3, 3}, .box = {16, 2, 3, 2, 2}, .at = {-8, 4, 2, -1, 2}}});
  all.push_back({"before the start", {.dims = {50, 20}, .box = {16, 8}, .at = {-8, -3}}});
  all.push_back({"before the first row", {.dims = {50, 20}, .box = {16, 8}, .at = {8, -3}}});
  all.push_back(
      {"rank 5 over the outer ends", {.dims = {24, 5, 4, 3, 3}, .box = {16, 2, 3, 2, 2}, .at = {8, 4, 2, 2, 2}}});
  all.push_back({"over the end", {.dims = {50, 20}, .box = {16, 8}, .at = {40, 17}}});
  all.push_back({"wholly outside", {.dims = {50, 20}, .box = {16, 8}, .at = {56, 3}}});
  all.push_back({"far outside", {.dims = {50, 20}, .box = {16, 8}, .at = {-4000, 3}}});
  all.push_back(
      {"the largest box", {.type = TensorMapType::kU8, .dims = {300, 300}, .box = {256, 256}, .at = {16, 1}}});
  all.push_back({"every second row", {.dims = {50, 40}, .box = {16, 16}, .at = {8, 5}, .steps = {1, 2}}});
  all.push_back({"every third row and eighth plane",
                 {.dims = {24, 20, 30}, .box = {16, 7, 16}, .at = {8, 2, 3}, .steps = {1, 3, 8}}});
  for (const auto& [name, swizzle] :
       {std::pair{"32", Swizzle::k32B}, std::pair{"64", Swizzle::k64B}, std::pair{"128", Swizzle::k128B}}) {
    const std::uint32_t row = device::swizzle_row_bytes(swizzle);
    const std::string prefix = std::string("swizzle ") + name;
    all.push_back({prefix, {.dims = {100, 50}, .box = {row / 2, 24}, .at = {8, 5}, .swizzle = swizzle}});
    all.push_back(
        {prefix + ", floats over the end", {TensorMapType::kF32, {100, 50}, {row / 4, 24}, {92, 40}, swizzle}});
    all.push_back({prefix + ", bytes", {TensorMapType::kU8, {200, 50}, {row, 16}, {16, 5}, swizzle}});
    all.push_back(
        {prefix + ", rank 3", {.dims = {80, 9, 9}, .box = {row / 2, 4, 5}, .at = {8, 1, 2}, .swizzle = swizzle}});
  }
  return all;
}

/// What the PTX manual lists for .add of a tensor; the emulator would add any type.
bool can_add(TensorMapType type) {
  return type == TensorMapType::kU32 || type == TensorMapType::kI32 || type == TensorMapType::kU64 ||
         type == TensorMapType::kF16 || type == TensorMapType::kBf16 || type == TensorMapType::kF32;
}

/// Small whole numbers in the map's type: sums are exact, and none is a NaN.
std::vector<std::byte> numbers(TensorMapType type, std::uint64_t bytes, std::uint32_t seed) {
  std::vector<std::byte> result(bytes);
  const std::uint32_t width = device::element_bytes(type);
  for (std::uint64_t i = 0; i < bytes / width; ++i) {
    const auto number = static_cast<std::int64_t>((i * 2654435761u + seed) >> 7 & 31);
    std::uint64_t bits = static_cast<std::uint64_t>(number);
    const float value = static_cast<float>(number);
    if (type == TensorMapType::kF32) bits = std::bit_cast<std::uint32_t>(value);
    if (type == TensorMapType::kF16) bits = device::to_f16(value).bits;
    if (type == TensorMapType::kBf16) bits = device::to_bf16(value).bits;
    std::memcpy(result.data() + i * width, &bits, width);
  }
  return result;
}

}  // namespace

std::vector<TwinCase> bulk_twins() {
  std::vector<TwinCase> cases;
  for (const std::uint32_t bytes : {16u, 32u, 48u, 112u, 128u, 144u, 1008u, 1024u, 4112u, 65536u, 200'000u})
    for (const auto& [from, to] : {std::pair{0u, 0u}, {16u, 0u}, {0u, 16u}, {112u, 48u}})
      for (std::uint32_t how = 0; how < 5; ++how) {
        if (how == 4 && bytes < 32) continue;
        if ((how > 0 && from != 16) || (bytes > 100'000 && from != 0)) continue;
        TwinCase twin = copy("twin_bulk_load", twins::twin_bulk_load, fmt::format("{} {} {} {}", bytes, from, to, how));
        twin.a = bytes, twin.b = from, twin.c = to, twin.d = how;
        twin.shared_bytes = 2048 + bytes;
        twin.in = random_bytes(bytes + 1024, bytes);
        twin.out.assign(bytes + 1024, std::byte{0});
        cases.push_back(std::move(twin));
      }
  for (const std::uint32_t bytes : {16u, 32u, 48u, 144u, 1024u, 4112u, 65536u})
    for (const auto& [to, from] : {std::pair{0u, 0u}, {16u, 0u}, {48u, 112u}})
      for (std::uint32_t how = 0; how < 5; ++how) {
        if (how == 3 && bytes < 32) continue;
        TwinCase twin =
            copy("twin_bulk_store", twins::twin_bulk_store, fmt::format("{} {} {} {}", bytes, to, from, how));
        twin.a = bytes, twin.b = to, twin.c = from, twin.d = how;
        twin.shared_bytes = 2048 + bytes;
        const TensorMapType type = how == 1   ? TensorMapType::kF32
                                   : how == 2 ? TensorMapType::kBf16
                                              : TensorMapType::kU32;
        twin.in = numbers(type, 2 * bytes + 256, 1);
        twin.out = numbers(type, 2 * bytes + 256, 99);
        cases.push_back(std::move(twin));
      }
  for (const std::uint32_t bytes : {16u, 144u, 4096u, 50'000u})
    for (const std::uint32_t rank : {0u, 1u}) {
      TwinCase twin = copy("twin_bulk_multicast", twins::twin_bulk_multicast, fmt::format("{} by {}", bytes, rank), 2);
      twin.a = bytes, twin.b = rank, twin.c = 32;
      twin.shared_bytes = 2048 + bytes;
      twin.in = random_bytes(bytes + 64, bytes);
      twin.out.assign(2 * bytes, std::byte{0});
      cases.push_back(twin);
      twin.kernel = "twin_bulk_to_cluster";
      twin.name = fmt::format("{}, {} expected by {}", twin.kernel, bytes, rank == 0 ? "receiver" : "sender");
      twin.host = twins::twin_bulk_to_cluster;
      cases.push_back(std::move(twin));
    }
  return cases;
}

std::vector<TwinCase> tensor_twins() {
  std::vector<TwinCase> cases;
  for (const auto& [name, box] : boxes()) {
    for (std::uint32_t how = 0; how < 5; ++how) {
      TwinCase twin = copy("twin_tensor_load", twins::twin_tensor_load, fmt::format("{}, {}", name, how));
      box.put_into(twin, false).d = how;
      twin.map->fields.base = 256;
      twin.map->in_memory = how >= 3;
      twin.in = random_bytes(box.bytes() + 512, 5);
      twin.out.assign((twin.a + 127) / 128 * 128, std::byte{0xee});
      cases.push_back(std::move(twin));
    }
    for (std::uint32_t how = 0; how < 3; ++how) {
      if (how == 2 && !can_add(box.type)) continue;
      const bool fails = std::ranges::any_of(box.at, [](std::int32_t at) { return at < 0; });  // loads take it
      if (fails && how > 0) continue;
      TwinCase twin = copy("twin_tensor_store", twins::twin_tensor_store, fmt::format("{}, {}", name, how));
      box.put_into(twin, true).d = how;
      twin.in = numbers(box.type, twin.a + 128, 3);
      twin.out = numbers(box.type, box.bytes(), 8);
      twin.fails = fails;
      cases.push_back(std::move(twin));
    }
    for (std::uint32_t how = 0; how < 2; ++how) {
      TwinCase twin = copy("twin_tensor_multicast", twins::twin_tensor_multicast, fmt::format("{}, {}", name, how), 2);
      box.put_into(twin, false).d = how;
      twin.b = how;
      twin.in = random_bytes(box.bytes() + 16, 6);
      twin.out.assign(2 * twin.a, std::byte{0xee});
      cases.push_back(std::move(twin));
    }
  }
  for (const TensorMapType type : {TensorMapType::kBf16, TensorMapType::kF16, TensorMapType::kF32}) {
    const Box box{type, {50, 20}, {16, 8}, {40, -2}, Swizzle::kNone, OutOfBoundsFill::kNan};
    TwinCase twin = copy("twin_tensor_load", twins::twin_tensor_load, fmt::format("NaN outside, type {}", int(type)));
    box.put_into(twin, false);
    twin.in = numbers(type, box.bytes(), 3);
    twin.out.assign(twin.a, std::byte{0xee});
    twin.agreement.kind = type == TensorMapType::kF32 ? Agreement::Kind::floats : Agreement::Kind::halves;
    cases.push_back(std::move(twin));
  }
  const Box uneven{.dims = {50, 20}, .box = {16, 8}, .at = {7, 5}};
  cases.push_back(copy("twin_tensor_load", twins::twin_tensor_load, "an innermost coordinate of 14 bytes"));
  uneven.put_into(cases.back(), false);
  cases.back().in = random_bytes(uneven.bytes(), 4);
  cases.back().out.assign(cases.back().a, std::byte{0xee});
  cases.back().fails = true;
  return cases;
}

}  // namespace megakittens::test
