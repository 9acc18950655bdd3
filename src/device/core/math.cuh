// Named functions of floats, in every lane. The same meaning on both machines: the accurate ones differ by the few
// units in the last place that the CUDA Programming Guide, "Mathematical Functions", allows; fma, sqrt, reciprocal and
// the rounding functions are exact. Names in *_approx are the fast hardware functions (about 2 to 22 bits right,
// subnormals flushed). max and min propagate NaN, as torch does. Code that uses these lies inside namespace
// megakittens.
#pragma once

#include "device/core/lanes.cuh"
#if MK_ON_GPU
#include "device/core/gpu/math.cuh"
#else
#include "device/core/host/math.cuh"
#endif
