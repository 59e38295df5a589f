#include "executor/clusters/padded_memory.h"

#include "executor/clusters/buckets.h"
#include "graph/tensor/tensor.h"

namespace tenon {
namespace {

size_t Aligned(size_t bytes) { return (bytes + kTensorAlignment - 1) & ~(kTensorAlignment - 1); }

}  // namespace

PaddedMemory::Place PaddedMemory::PlaceOf(const pjrt::BufferSpec& exact,
                                          const pjrt::BufferSpec& padded) {
  Place place{exact, padded};
  if (exact.shape == padded.shape) return place;
  place.at = bytes_;
  bytes_ += Aligned(padded.bytes());
  return place;
}

PaddedMemory::PaddedMemory(absl::Span<const pjrt::BufferSpec> exact_inputs,
                           absl::Span<const pjrt::BufferSpec> inputs,
                           absl::Span<const pjrt::BufferSpec> exact_results,
                           absl::Span<const pjrt::BufferSpec> results) {
  // The pointers come first, so that no place is 0.
  bytes_ = Aligned((exact_inputs.size() + exact_results.size()) * sizeof(void*));
  for (size_t i = 0; i < exact_inputs.size(); ++i)
    inputs_.push_back(PlaceOf(exact_inputs[i], inputs[i]));
  for (size_t i = 0; i < exact_results.size(); ++i)
    results_.push_back(PlaceOf(exact_results[i], results[i]));
}

PaddedMemory::Pointers PaddedMemory::Fill(void* const* in, void* const* out, void* scratch) const {
  char* const memory = static_cast<char*>(scratch);
  void** const program_in = static_cast<void**>(scratch);
  void** const program_out = program_in + inputs_.size();
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Place& place = inputs_[i];
    program_in[i] = place.at == 0 ? in[i] : memory + place.at;
    if (place.at == 0) continue;
    CopyPadded(in[i], place.exact.shape, program_in[i], place.padded.shape,
               DataTypeSize(place.exact.type));
  }
  for (size_t i = 0; i < results_.size(); ++i)
    program_out[i] = results_[i].at == 0 ? out[i] : memory + results_[i].at;
  return {program_in, program_out};
}

void PaddedMemory::Take(void* const* out, const Pointers& pointers) const {
  for (size_t i = 0; i < results_.size(); ++i) {
    const Place& place = results_[i];
    if (place.at == 0) continue;
    CopyLeading(pointers.out[i], place.padded.shape, out[i], place.exact.shape,
                DataTypeSize(place.exact.type));
  }
}

}  // namespace tenon
