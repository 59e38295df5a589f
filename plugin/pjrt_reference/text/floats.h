// Floats of a program's text, which has a point whatever the locale of the process.
#pragma once

#include <clocale>
#include <cstdlib>
#include <string>

namespace pjref {

inline locale_t PlainLocale() {
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  return plain;
}

// The nearest double or float; beyond the type infinity, with the sign.
inline double DoubleOfText(const std::string& spelled) {
  return strtod_l(spelled.c_str(), nullptr, PlainLocale());
}
inline float FloatOfText(const std::string& spelled) {
  return strtof_l(spelled.c_str(), nullptr, PlainLocale());
}

}  // namespace pjref
