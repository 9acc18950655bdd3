// What NVRTC compiles for Hopper.
#include "interpreter/sm90.cuh"

extern "C" __global__ void __launch_bounds__(384, 1)
    megakittens_sm90(const __grid_constant__ megakittens::program::LaunchParameters launch) {
  megakittens::interpreter::interpret_sm90(launch);
}
