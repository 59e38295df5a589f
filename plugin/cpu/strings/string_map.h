// The frame of ops that make one element of each string, or one string of each element.
#pragma once

#include <cstdint>
#include <utility>

#include "plugin/cpu/base/kernel_util.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// A step whose state is a T with a member `absl::Status operator()(const StepArgs&, int64_t i)
// const`, which makes element i of output 0.
template <typename T>
struct ElementMap {
  T map;
  int64_t n;

  static absl::Status Run(const void* state, const StepArgs& args) {
    const auto& s = *static_cast<const ElementMap*>(state);
    for (int64_t i = 0; i < s.n; ++i) TENON_RETURN_IF_ERROR(s.map(args, i));
    return absl::OkStatus();
  }
};

// Output 0 gets the shape of input 0.
template <typename T>
absl::Status SetElementMap(Prepare& p, T map) {
  p.set_output_shape(0, p.input_shape(0));
  p.set_run(&ElementMap<T>::Run, std::make_shared<ElementMap<T>>(ElementMap<T>{
                                     std::move(map), p.input_shape(0).num_elements()}));
  return absl::OkStatus();
}

}  // namespace tenon::cpu
