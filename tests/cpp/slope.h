// Derivatives of functions of one tensor, for tests.
#pragma once

#include "tenon/tenon.h"

namespace tenon {

// The derivative of f, as a function of tensors.
template <typename F>
auto SlopeOf(const F& f) {
  return [&f](Tensor x) {
    GradientTape tape;
    tape.Watch(x);
    return tape.Gradient(f(x), {x})[0];
  };
}

// The second derivative, by two tapes around f.
template <typename F>
auto SecondOf(const F& f) {
  return [&f](Tensor x) {
    GradientTape outside;
    outside.Watch(x);
    Tensor first;
    {
      GradientTape inside;
      inside.Watch(x);
      first = inside.Gradient(f(x), {x})[0];
    }
    return outside.Gradient(first, {x})[0];
  };
}

}  // namespace tenon
