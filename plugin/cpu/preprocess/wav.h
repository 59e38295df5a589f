// WAV files of 16-bit samples.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// INVALID_ARGUMENT where no WAV file holds so many samples of so many channels.
absl::Status CheckWav(const Prepare& p, int64_t samples, int64_t channels);

// A file of values [samples, channels] in [-1, 1), cut off beyond; NaN is silence. The sizes have
// passed CheckWav.
std::string WavFile(const float* values, int64_t samples, int64_t channels, int32_t rate);

}  // namespace tenon::cpu
