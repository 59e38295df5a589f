// Images or volumes of type float, half or bfloat16 and of either layout, read as floats with
// channels last.
#pragma once

#include "plugin/cpu/base/window.h"
#include "plugin/kernels/run_fn.h"

namespace tenon::cpu {

// The description of one tensor of images; the data are arguments of each call. Immutable once
// made; several threads share it.
class FloatImages {
 public:
  enum class Side : uint8_t { kInput, kOutput };
  // The input or output images of `windows`, stored as type `type`: float, half or bfloat16.
  FloatImages(const Windows& windows, Side side, DataType type);

  // Returns whether the images are stored as floats with channels last.
  bool is_plain() const { return plain_; }
  int64_t places() const { return places_; }
  int64_t channels() const { return channels_; }
  int64_t image() const { return places_ * channels_; }  // elements of one image

  // Returns the bytes of `memory` that Read needs: 0 if plain.
  size_t ReadBytes() const;
  // Returns all images of input `input` as floats with channels last: the input's memory if plain,
  // else a converted copy in `memory`. The conversion is split over args.workers.
  const float* Read(const StepArgs& args, int input, char* memory) const;
  // Stores values[0] to values[channels() - 1] as the channels at place `place` of image n in
  // output 0, each rounded to the type of the images.
  void Write(const StepArgs& args, int64_t n, int64_t place, const float* values) const;
  // Adds the channels of input `input` at place `place` of image n to `values`. The input has
  // images of the same shape and layout, but of type `type`: float, double, half or bfloat16.
  void Add(const StepArgs& args, int input, DataType type, int64_t n, int64_t place,
           float* values) const;

 private:
  int64_t At(int64_t n, int64_t place) const {
    return channels_first_ ? n * image() + place : (n * places_ + place) * channels_;
  }
  DataType type_;
  bool channels_first_, plain_;
  int64_t batch_, places_, channels_, step_;  // elements between the channels of a place
};

}  // namespace tenon::cpu
