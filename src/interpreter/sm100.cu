// What NVRTC compiles for Blackwell.
#include "interpreter/sm100.cuh"

extern "C" __global__ void __launch_bounds__(512, 1)
    megakittens_sm100(const __grid_constant__ megakittens::program::LaunchParameters launch) {
  megakittens::interpreter::interpret_sm100(launch);
}
