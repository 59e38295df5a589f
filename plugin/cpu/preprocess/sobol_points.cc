// Boost's table of polynomials takes long to compile; so this source has nothing else.
#include "plugin/cpu/preprocess/sobol_points.h"

#include <boost/random/sobol.hpp>

namespace tenon::cpu {
namespace {

template <typename T>
void WriteSobol(const SobolPoints& s, T* out) {
  boost::random::sobol engine(static_cast<size_t>(s.dimensions));
  engine.discard(static_cast<uint64_t>(s.skipped) * static_cast<uint64_t>(s.dimensions));
  for (int64_t i = 0; i < s.points * s.dimensions; ++i)
    out[i] = static_cast<T>(static_cast<double>(engine()) * 0x1p-64);
}

}  // namespace

void SobolPoints::Write(float* out) const { WriteSobol(*this, out); }
void SobolPoints::Write(double* out) const { WriteSobol(*this, out); }

}  // namespace tenon::cpu
