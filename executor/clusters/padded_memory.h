// The memory of a run whose program is for larger shapes than the run's.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "plugin/pjrt/buffer.h"

namespace tenon {

// Immutable. A default object is for programs of the exact shapes: Fill and Take need another.
class PaddedMemory {
 public:
  PaddedMemory() = default;
  // Of the node's inputs and results, in their order: how the run has them, and how the program.
  PaddedMemory(absl::Span<const pjrt::BufferSpec> exact_inputs,
               absl::Span<const pjrt::BufferSpec> inputs,
               absl::Span<const pjrt::BufferSpec> exact_results,
               absl::Span<const pjrt::BufferSpec> results);

  bool used() const { return bytes_ > 0; }
  // Of the scratch memory, which is aligned to kTensorAlignment.
  size_t bytes() const { return bytes_; }

  // Pointers for the program. They lie in the scratch memory.
  struct Pointers {
    void* const* in;
    void* const* out;
  };
  // Copies the inputs that the program has larger (CopyPadded); the others stay where they are.
  Pointers Fill(void* const* in, void* const* out, void* scratch) const;
  // Copies the exact results of a run of the program, whose pointers Fill gave, to `out`.
  void Take(void* const* out, const Pointers& pointers) const;

 private:
  struct Place {
    pjrt::BufferSpec exact, padded;
    size_t at = 0;  // in the scratch memory; 0: the value has the same shape
  };
  Place PlaceOf(const pjrt::BufferSpec& exact, const pjrt::BufferSpec& padded);

  std::vector<Place> inputs_, results_;
  size_t bytes_ = 0;
};

}  // namespace tenon
