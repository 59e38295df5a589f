// Convolutions of any type, and the gradients of their inputs and filters: windows and filter are
// packed, and multiplied in blocks of registers. Sums are float, double or, of integers, modulo
// 2^32 or 2^64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "graph/tensor/dtype.h"
#include "plugin/cpu/base/workers.h"
#include "plugin/cpu/elementwise/loops/element_op.h"
#include "plugin/cpu/nn/conv/conv.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

// A convolution, which reads the input and writes the output, or the gradient of its input, which
// reads the gradient of the output and writes that of the input.
struct AnyConv {
  ConvProblem q;
  DataType type = DataType::kInvalid;
  std::vector<DataType> input_types = {};  // of all inputs of the node
  bool gradient = false;
  ElementLoop widen = nullptr, narrow = nullptr;  // of half and bfloat16, to and from float

  int source() const { return gradient ? 2 : 0; }  // the input of the node that is read
  // Channels of one group.
  int64_t read_channels() const { return gradient ? q.out_per_group() : q.in_per_group(); }
  int64_t written_channels() const { return gradient ? q.in_per_group() : q.out_per_group(); }
  int64_t all_written() const { return gradient ? q.in_channels : q.out_channels; }
  int64_t written_places() const { return gradient ? q.in_places() : q.out_places(); }
  int64_t read_step() const { return gradient ? q.output_step() : q.input_step(); }
  int64_t ReadAt(int64_t image, int64_t place) const {
    return gradient ? q.OutputAt(image, place) : q.InputAt(image, place);
  }
  int64_t WrittenAt(int64_t image, int64_t place, int64_t channel) const {
    return gradient ? q.InputAt(image, place, channel) : q.OutputAt(image, place, channel);
  }
  int64_t FilterAt(int64_t window_place, int64_t group, int64_t read, int64_t written) const {
    return (window_place * q.in_per_group() + (gradient ? written : read)) * q.out_channels +
           group * q.out_per_group() + (gradient ? read : written);
  }
  // Calls f(read place, window place) for all that go into a written place.
  template <typename F>
  void ForEachRead(int64_t written, F f) const {
    gradient ? q.ForEachCovering(written, f) : q.ForEachInWindow(written, f);
  }

  // Elements that one group of channels reads for a place.
  int64_t depth() const { return q.window_places() * read_channels(); }
  // One channel that is read for each that is written, side by side: nothing to multiply in blocks.
  bool by_channel() const {
    return q.in_per_group() == 1 && q.out_per_group() == 1 && read_step() == 1;
  }
};

// How a convolution is run. The state of `run` is what it was found for: an AnyConv or an
// AnyFilterGrad.
struct AnyConvRun {
  RunFn run;
  size_t scratch_bytes;
};

// Returns how `s` is run. Sums of half and bfloat16 are float; integers wrap around. The type is
// half, bfloat16, float, double, int32 or uint32, int64 or uint64.
AnyConvRun FindAnyConv(const Workers& workers, const AnyConv& s);

// The gradient of a filter.
struct AnyFilterGrad {
  ConvProblem q;
  DataType type = DataType::kFloat;
  ElementLoop widen = nullptr;  // of half and bfloat16, to float

  // One channel of the input for each of the output, side by side: nothing to multiply in blocks.
  bool by_channel() const {
    return q.in_per_group() == 1 && q.out_per_group() == 1 && !q.channels_first;
  }
};

// Returns how `s` is run, with sums of double for double, else of float.
AnyConvRun FindAnyFilterGrad(const Workers& workers, const AnyFilterGrad& s);

}  // namespace tenon::cpu
