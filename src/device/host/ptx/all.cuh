// Twins of every instruction, for the host.
#pragma once

#include "device/host/ptx/barrier.cuh"
#include "device/host/ptx/bulk_copy.cuh"
#include "device/host/ptx/bulk_tensor.cuh"
#include "device/host/ptx/cache_policy.cuh"
#include "device/host/ptx/fence.cuh"
#include "device/host/ptx/global_load.cuh"
#include "device/host/ptx/global_store.cuh"
#include "device/host/ptx/global_sync.cuh"
#include "device/host/ptx/matrix.cuh"
#include "device/host/ptx/mbarrier.cuh"
#include "device/host/ptx/shared_memory.cuh"
#include "device/host/ptx/special.cuh"
#include "device/host/ptx/tcgen05.cuh"
#include "device/host/ptx/warp.cuh"
#include "device/host/ptx/wgmma.cuh"
