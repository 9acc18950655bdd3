// The functions of ir/operations.def in forms whose errors (about 2^-20 of the value) vanish behind a rounding to bf16
// or f16.
#pragma once

#include "device/core/math.cuh"

namespace megakittens::device {

/// To derive from: inside the class the names mean these, where the functions of core/math.cuh have no fast form those.
struct FastMath {
  static MK_DEVICE Lanes<float> exp(Lanes<float> x) { return exp2_approx(x * 1.4426950408889634f); }
  /// One step of Newton's makes quotients that lie between two values of the narrower type come out there exactly.
  static MK_DEVICE Lanes<float> divide(Lanes<float> a, Lanes<float> b) {
    const Lanes<float> near = divide_approx(a, b), left = fma(-near, b, a);
    const Lanes<float> nearer = fma(left, reciprocal_approx(b), near);
    return select(left != 0.0f && abs(nearer) <= 3.4028235e38f, nearer, near);
  }
  static MK_DEVICE Lanes<float> reciprocal(Lanes<float> x) { return divide_approx(Lanes<float>(1.0f), x); }
  /// a / b for b of 1 and more.
  static MK_DEVICE Lanes<float> quotient(Lanes<float> a, Lanes<float> b) { return a * reciprocal_approx(b); }
  static MK_DEVICE Lanes<float> sqrt(Lanes<float> x) { return sqrt_approx(x); }
  /// To 2^-22 of 1 and not of the value (Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26): it stands
  /// in sums with 1 only.
  static MK_DEVICE Lanes<float> erf(Lanes<float> x) {
    const Lanes<float> y = abs(x), t = reciprocal_approx(fma(y, Lanes<float>(0.3275911f), Lanes<float>(1.0f)));
    Lanes<float> sum = 1.061405429f;
    sum = fma(t, sum, Lanes<float>(-1.453152027f));
    sum = fma(t, sum, Lanes<float>(1.421413741f));
    sum = fma(t, sum, Lanes<float>(-0.284496736f));
    sum = fma(t, sum, Lanes<float>(0.254829592f));
    const Lanes<float> size = 1.0f - sum * t * exp(-(y * y));
    return select(x < 0.0f, -size, size);
  }
  /// 1 - 2 / (e^2x + 1), and near 0, where that cancels, the series.
  static MK_DEVICE Lanes<float> tanh(Lanes<float> x) {
    const Lanes<float> far = 1.0f - quotient(2.0f, exp(x + x) + 1.0f), y = x * x;
    const Lanes<float> near = x + x * y * (y * (y * -0.053968254f + 0.13333334f) - 0.33333334f);
    return select(abs(x) < 0.25f, near, far);
  }
};

}  // namespace megakittens::device
