// Pieces of OpenCL C become one text.
#pragma once

#include <charconv>
#include <cmath>
#include <initializer_list>
#include <iterator>
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

// A finite number as printf's %g (general) or %e (scientific) writes it, with a point whatever
// the locale of the process.
inline std::string DecimalText(double value, std::chars_format format, int precision) {
  char text[40];
  return {text, std::to_chars(text, std::end(text), value, format, precision).ptr};
}

// A constant of the type, with all digits that a float has.
inline std::string FloatText(const char* type, float value) {
  return Joined({"((", type, ")",
                 std::isfinite(value) ? DecimalText(value, std::chars_format::general, 9)
                                      : NameOfNotFinite(value),
                 ")"});
}

}  // namespace opencl
