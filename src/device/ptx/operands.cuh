// Operand lists for asm with many registers: the assembler text of the first n operands, and n elements of an array
// from index i. Used by wgmma.cuh and tcgen05.cuh, which need the operands they list first to be %0, %1, ...
#pragma once

#define MK_REGISTERS_4 "%0, %1, %2, %3"
#define MK_REGISTERS_8 \
  MK_REGISTERS_4       \
  ", %4, %5, %6, %7"
#define MK_REGISTERS_16 \
  MK_REGISTERS_8        \
  ", %8, %9, %10, %11, %12, %13, %14, %15"
#define MK_REGISTERS_32 \
  MK_REGISTERS_16       \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define MK_REGISTERS_64                                                              \
  MK_REGISTERS_32                                                                    \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47" \
  ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define MK_REGISTERS_96                                                              \
  MK_REGISTERS_64                                                                    \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79" \
  ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define MK_REGISTERS_128                                                                         \
  MK_REGISTERS_96                                                                                \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
  ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

#define MK_OPERANDS_4(C, a, i) C((a)[i]), C((a)[(i) + 1]), C((a)[(i) + 2]), C((a)[(i) + 3])
#define MK_OPERANDS_8(C, a, i) MK_OPERANDS_4(C, a, i), MK_OPERANDS_4(C, a, (i) + 4)
#define MK_OPERANDS_16(C, a, i) MK_OPERANDS_8(C, a, i), MK_OPERANDS_8(C, a, (i) + 8)
#define MK_OPERANDS_32(C, a, i) MK_OPERANDS_16(C, a, i), MK_OPERANDS_16(C, a, (i) + 16)
#define MK_OPERANDS_64(C, a, i) MK_OPERANDS_32(C, a, i), MK_OPERANDS_32(C, a, (i) + 32)
#define MK_OPERANDS_96(C, a, i) MK_OPERANDS_64(C, a, i), MK_OPERANDS_32(C, a, (i) + 64)
#define MK_OPERANDS_128(C, a, i) MK_OPERANDS_64(C, a, i), MK_OPERANDS_64(C, a, (i) + 64)
