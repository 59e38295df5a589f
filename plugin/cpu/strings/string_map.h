// The frame of ops that make element i of output 0 from element i of input 0: a number from a
// string, a string from a number, or a string from a string.
#pragma once

#include <cstdint>
#include <utility>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// A run state around a T. A T has a member `absl::Status operator()(const StepArgs&, int64_t i)
// const`, which reads its inputs and stores element i of output 0. A T is immutable once the step
// is prepared: concurrent runs share it.
template <typename T>
struct ElementMap {
  T map;
  int64_t n;  // elements

  static absl::Status Run(const void* state, const StepArgs& args) {
    const auto& s = *static_cast<const ElementMap*>(state);
    for (int64_t i = 0; i < s.n; ++i) TENON_RETURN_IF_ERROR(s.map(args, i));
    return absl::OkStatus();
  }
};

// Prepares the step: output 0 gets the shape of input 0. A run calls `map` for each element in
// ascending order, in the thread of the run, and ends at the first error. Always returns OK, so
// that a preparation can end with this call.
template <typename T>
absl::Status SetElementMap(Prepare& p, T map) {
  p.set_output_shape(0, p.input_shape(0));
  p.set_run(&ElementMap<T>::Run, std::make_shared<ElementMap<T>>(ElementMap<T>{
                                     std::move(map), p.input_shape(0).num_elements()}));
  return absl::OkStatus();
}

}  // namespace tenon::cpu
