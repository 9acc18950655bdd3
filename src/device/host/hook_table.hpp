// The hooks as a table of functions: how device code that lies in a library of its own reaches the machine, whichever
// program that machine is part of and whatever it exports. HostKernel is all that such a library shows.
#pragma once

#include "device/core/host/warp.cuh"
#include "device/host/hooks.hpp"

namespace megakittens::device::host {

/// Of the table and of HostKernel; a library with another number is not used.
inline constexpr std::uint32_t kHookTableVersion = 3;

struct HookTable {
// NOLINTBEGIN(bugprone-macro-parentheses): a member's name
#define MK_X(result, name, parameters, arguments) decltype(&host::name) name;
  MK_HOOKS(MK_X)
#undef MK_X
  // NOLINTEND(bugprone-macro-parentheses)
  decltype(&host::trap) trap;
  /// Where the machine's single_lane_depth of this thread lies: a library of its own has another.
  std::uint32_t* (*lane_depth)();
};

/// An interpreter, compiled for the host, in a library of its own.
struct HostKernel {
  std::uint32_t version;
  std::uint32_t warps;
  std::uint32_t shared_bytes;
  void (*bind)(const HookTable* table);  ///< before the first run; the table stays for good
  void (*kernel)(const void* parameters);
};

/// The one name that the library exports: a function without arguments that gives its const HostKernel*.
inline constexpr const char* kHostKernelName = "megakittens_host_kernel";

}  // namespace megakittens::device::host
