// Fixed-width integers for headers that host compilers and NVRTC share; the same types as a 64-bit Linux host has.
#pragma once

#if defined(__CUDACC_RTC__)
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
// NVRTC has neither this builtin nor offsetof; its front end's own operator may stand in constant expressions.
#define __builtin_offsetof(type, member) __INTADDR__(&(static_cast<type*>(nullptr)->member))
#else
#include <cstdint>
using std::int16_t, std::int32_t, std::int64_t, std::int8_t;
using std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;
#endif
