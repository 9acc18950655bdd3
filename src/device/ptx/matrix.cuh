// ldmatrix and stmatrix: four 8x8 tiles of 16-bit elements between shared memory and a warp's registers. Lane l gives
// the address of row l % 8 of tile l / 8 (16 aligned bytes). In register t, lane l holds row l / 4, columns 2 * (l % 4)
// and the next of tile t, lower half first; .trans exchanges rows and columns. The whole warp executes these.
#pragma once

#include "device/core/lanes.cuh"

namespace megakittens::ptx {

using device::Lanes;
using device::Words;

/// sm_75. PTX: "ldmatrix", .x4.
MK_DEVICE Words<4> ldmatrix_x4(Lanes<uint32_t> address) {
  Words<4> value;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.w[0]), "=r"(value.w[1]), "=r"(value.w[2]), "=r"(value.w[3])
               : "r"(address));
  return value;
}

/// sm_75. PTX: "ldmatrix", .x4.trans.
MK_DEVICE Words<4> ldmatrix_x4_trans(Lanes<uint32_t> address) {
  Words<4> value;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.w[0]), "=r"(value.w[1]), "=r"(value.w[2]), "=r"(value.w[3])
               : "r"(address));
  return value;
}

/// sm_90. PTX: "stmatrix", .x4.
MK_DEVICE void stmatrix_x4(Lanes<uint32_t> address, Words<4> value) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(value.w[0]),
               "r"(value.w[1]), "r"(value.w[2]), "r"(value.w[3])
               : "memory");
}

/// sm_90. PTX: "stmatrix", .x4.trans.
MK_DEVICE void stmatrix_x4_trans(Lanes<uint32_t> address, Words<4> value) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(value.w[0]),
               "r"(value.w[1]), "r"(value.w[2]), "r"(value.w[3])
               : "memory");
}

}  // namespace megakittens::ptx
