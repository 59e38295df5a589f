// The decompositions of matrices, from a library that is opened when the first kernel needs it.
#pragma once

#include <type_traits>

#include "absl/status/status.h"
#include "plugin/cpu/linalg/decompositions/matrix_library.h"

namespace tenon::cpu {

// Opens libtenon_linalg.so in the folder tenon/ beside libtenon. If that folder has no such file,
// opens ../lib/tenon/libtenon_linalg.so, seen from the folder of libtenon or of the program that
// holds libtenon's code. A kernel calls this function when it is prepared. Only the first call
// opens the library; later calls return the first one's status and cost an atomic load. NOT_FOUND,
// naming the file, if the library cannot be opened or belongs to another version of libtenon.
// Thread-safe. The library stays open for the life of the process.
absl::Status OpenMatrixLibrary();

// The functions of the library. OpenMatrixLibrary() must have returned OK.
const MatrixLibrary& OpenedMatrixLibrary();

// Those for matrices of T: float, double, std::complex<float> or std::complex<double>.
template <typename T>
const MatrixFunctions<T>& FunctionsOf() {
  const MatrixLibrary& library = OpenedMatrixLibrary();
  if constexpr (std::is_same_v<T, float>) {
    return library.f32;
  } else if constexpr (std::is_same_v<T, double>) {
    return library.f64;
  } else if constexpr (std::is_same_v<T, std::complex<float>>) {
    return library.c64;
  } else {
    return library.c128;
  }
}

}  // namespace tenon::cpu
