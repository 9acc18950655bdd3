// Every instruction. device/machine.cuh chooses between these and the host's twins, device/host/ptx/all.cuh.
#pragma once

#include "device/ptx/barrier.cuh"
#include "device/ptx/bulk_copy.cuh"
#include "device/ptx/bulk_tensor.cuh"
#include "device/ptx/cache_policy.cuh"
#include "device/ptx/fence.cuh"
#include "device/ptx/global_load.cuh"
#include "device/ptx/global_store.cuh"
#include "device/ptx/global_sync.cuh"
#include "device/ptx/matrix.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/shared_memory.cuh"
#include "device/ptx/special.cuh"
#include "device/ptx/tcgen05.cuh"
#include "device/ptx/warp.cuh"
#include "device/ptx/wgmma.cuh"
