// A measure of the machine that compiles, not of this project: it includes nothing and never changes
// (interpreter_test.cpp divides by the time it takes). Like the interpreter it is switches in loops over arrays in
// registers, so that both halves of the compiler have the same kind of work.

template <int kValues, int kCopy>
__device__ __forceinline__ void run(const uint2* code, unsigned count, const float* in, float* out) {
  float x[kValues], y[kValues], kept[2][kValues];
#pragma unroll
  for (int i = 0; i < kValues; ++i) {
    x[i] = in[i + kCopy * 64];
    y[i] = kept[0][i] = kept[1][i] = 0.0f;
  }
#pragma unroll 1
  for (unsigned at = 0; at < count; ++at) {
    const uint2 word = code[at];
    if (word.x & 1)
#pragma unroll
      for (int i = 0; i < kValues; ++i) y[i] = in[word.y + i];
    switch (word.x >> 1) {
#define STEP(number, EXPRESSION)                                    \
  case number:                                                      \
    _Pragma("unroll") for (int i = 0; i < kValues; ++i) x[i] = EXPRESSION; \
    break;
      STEP(0, x[i] + y[i])
      STEP(1, x[i] - y[i])
      STEP(2, x[i] * y[i])
      STEP(3, fmaxf(x[i], y[i]))
      STEP(4, fminf(x[i], y[i]))
      STEP(5, x[i] < y[i] ? kept[0][i] : kept[1][i])
      STEP(6, x[i] == y[i] ? 1.0f : 0.0f)
      STEP(7, fmaxf(x[i] + y[i], 0.0f))
      STEP(8, fmaf(x[i], y[i], kept[0][i]))
#undef STEP
      case 9:
#pragma unroll
        for (int i = 0; i < kValues; ++i) {
          kept[0][i] = word.y == 0 ? x[i] : kept[0][i];
          kept[1][i] = word.y == 1 ? x[i] : kept[1][i];
        }
        break;
      case 10:
#pragma unroll
        for (int i = 0; i < kValues; ++i) out[word.y + i] = x[i];
        break;
      default:
#pragma unroll 1
        for (int n = 0; n < kValues; ++n) {
          const float a = x[0], b = y[0];
          float value = a;
          switch (word.y) {
            case 0:
              value = expf(a);
              break;
            case 1:
              value = logf(a);
              break;
            case 2:
              value = a / b;
              break;
            case 3:
              value = powf(a, b);
              break;
            case 4:
              value = erff(a);
              break;
            case 5:
              value = tanhf(a);
              break;
            case 6:
              value = rsqrtf(a);
              break;
          }
#pragma unroll
          for (int i = 0; i + 1 < kValues; ++i) {
            x[i] = x[i + 1];
            y[i] = y[i + 1];
          }
          x[kValues - 1] = value;
          y[kValues - 1] = b;
        }
    }
  }
}

extern "C" __global__ void __launch_bounds__(256, 1)
    yardstick(const uint2* code, unsigned count, const float* in, float* out) {
  switch (blockIdx.x) {
    case 0:
      return run<16, 0>(code, count, in, out);
    case 1:
      return run<18, 1>(code, count, in, out);
    case 2:
      return run<20, 2>(code, count, in, out);
    case 3:
      return run<22, 3>(code, count, in, out);
    case 4:
      return run<24, 4>(code, count, in, out);
    case 5:
      return run<26, 5>(code, count, in, out);
    case 6:
      return run<28, 6>(code, count, in, out);
    case 7:
      return run<30, 7>(code, count, in, out);
    case 8:
      return run<32, 8>(code, count, in, out);
    case 9:
      return run<34, 9>(code, count, in, out);
    case 10:
      return run<36, 10>(code, count, in, out);
    case 11:
      return run<38, 11>(code, count, in, out);
  }
}
