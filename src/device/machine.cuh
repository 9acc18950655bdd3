// The one place where device code meets its machine: namespace ptx is assembly on the GPU and twins on the host.
#pragma once

#include "device/core/target.cuh"
#if MK_ON_GPU
#include "device/ptx/all.cuh"
#else
#include "device/host/ptx/all.cuh"
#endif
