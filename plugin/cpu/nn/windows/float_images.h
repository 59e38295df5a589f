// Images of any floating type and layout, as floats with their channels last.
#pragma once

#include "plugin/cpu/base/window.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

class FloatImages {
 public:
  enum class Side : uint8_t { kInput, kOutput };
  // One side of `windows`, stored as `type`: float, half or bfloat16.
  FloatImages(const Windows& windows, Side side, DataType type);

  // Whether they are stored as they are wanted.
  bool is_plain() const { return plain_; }
  int64_t places() const { return places_; }
  int64_t channels() const { return channels_; }
  int64_t image() const { return places_ * channels_; }

  // What Read needs, and all images: where they are, or a copy in `memory`.
  size_t ReadBytes() const;
  const float* Read(const StepArgs& args, int input, char* memory) const;
  // Stores all channels of one place in output 0.
  void Write(const StepArgs& args, int64_t n, int64_t place, const float* values) const;
  // Adds the values of input `input` at one place; that input has images like these, of its own
  // type.
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
