// What passes may assume of ops by name.
#pragma once

#include <string_view>

namespace tenon {

// Computes an answer whatever the values and shapes of its operands are, as long as their types are
// right: leaving it out hides no error.
bool NeverFails(std::string_view op);

// Identity and those that compute the same.
bool IsIdentityLike(std::string_view op);

}  // namespace tenon
