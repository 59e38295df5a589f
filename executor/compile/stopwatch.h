// The time that a stage takes.
#pragma once

#include <chrono>

namespace tenon {

// Starts when it is made.
class Stopwatch {
 public:
  // Milliseconds of wall-clock time since the start.
  double Milliseconds() const {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start_)
        .count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace tenon
