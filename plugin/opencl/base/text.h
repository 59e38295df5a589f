// Pieces of OpenCL C become one text.
#pragma once

#include <cmath>
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

// The name of an infinity or NaN in OpenCL C; empty for a finite number.
inline const char* NameOfNotFinite(double value) {
  if (std::isfinite(value)) return "";
  return std::isnan(value) ? "NAN" : value > 0 ? "INFINITY" : "-INFINITY";
}

// A constant of the type, with all digits that a float has.
inline std::string FloatText(const char* type, float value) {
  char digits[32];
  std::snprintf(digits, sizeof(digits), "%.9g", static_cast<double>(value));
  return Joined({"((", type, ")", std::isfinite(value) ? digits : NameOfNotFinite(value), ")"});
}

}  // namespace opencl
