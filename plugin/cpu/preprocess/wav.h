// WAV files of 16-bit samples.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// Returns INVALID_ARGUMENT unless `channels` is in [1, 32767] and the length of a file of `samples`
// samples per channel fits the 32 bits that WAV has for it. `samples` must not be negative.
absl::Status CheckWav(const Prepare& p, int64_t samples, int64_t channels);

// Returns INVALID_ARGUMENT unless the bytes of a second fit the 32 bits that WAV has for them.
// `rate` is samples per second and channel, at most the greatest int32. `channels` has passed
// CheckWav. Does not refuse a rate of 0 or less: the caller does.
absl::Status CheckWavRate(int64_t rate, int64_t channels);

// Returns a WAV file of 16-bit PCM samples. `values` are [samples, channels] in [-1, 1). A sample
// is its value times 32768, rounded, with halves away from zero, and limited to 16 bits; NaN is
// silence. `rate` is samples per second and channel, and positive. The sizes have passed CheckWav
// and CheckWavRate.
std::string WavFile(const float* values, int64_t samples, int64_t channels, int32_t rate);

}  // namespace tenon::cpu
