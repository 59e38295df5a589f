// Parses the element lists of a SPEC: "1 2,3", "[[1 2][3 4]]".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/shape.h"
#include "graph/tensor/tensor.h"

namespace tenon::cli {

// An element list in its parts.
struct SpecElements {
  std::vector<std::string> tokens;  // quoted ones without the quotes, with escapes resolved
  bool quoted = false;              // some token was in quotes
  bool nested = false;              // there were brackets
  Dims dims;                        // the shape of the brackets; empty without brackets
};

// Splits an element list. Blanks and commas, however many, stand between elements. In quotes \n,
// \t, \0 and \xHH are escapes, and a backslash before any other character gives that character. An
// empty text has no elements. INVALID_ARGUMENT for brackets that do not match, elements or a list
// outside the outermost brackets, lists of one depth that differ in length, elements at different
// depths, a string without end, a \x without two hexadecimal digits, and brackets deeper than
// kMaxRank; names the byte (counted from 1). Does not check that there are as many tokens as `dims`
// has elements.
absl::StatusOr<SpecElements> SplitElements(std::string_view text);

// Parses `text` as an element of t's type, which is a number, bool or string, and stores it as
// element i (in row-major order), which must exist. INVALID_ARGUMENT, with `i` and, for integers
// and bool, the range: "element 3: '256' is no u8 (0 to 255)". A number that the type can only hold
// as infinity is such an error too; "inf" and "infinity" are infinities. After an error the element
// may have another value.
absl::Status StoreElement(const Tensor& t, int64_t i, const std::string& text);

}  // namespace tenon::cli
