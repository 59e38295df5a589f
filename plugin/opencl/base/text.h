// Pieces of OpenCL C become one text.
#pragma once

#include <cstdio>
#include <initializer_list>
#include <string>
#include <string_view>

namespace opencl {

// The parts one after another.
inline std::string Joined(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}

// A constant of the type, with all digits that a float has. `value` must be finite.
inline std::string FloatText(const char* type, float value) {
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.9g", static_cast<double>(value));
  return Joined({"((", type, ")", digits, ")"});
}

}  // namespace opencl
