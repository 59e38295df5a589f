// Since which TensorFlow 2.x ops and attributes of ops are there. tests/oracle holds the tables
// against a TensorFlow that is installed.
#pragma once

#include <string_view>

namespace tenon {

inline constexpr int kNewestTensorFlow = 21;  // the last minor version that is known

// The minor version that brought an op; 0: 2.0 has it, or it is none of TensorFlow's.
int TensorFlowOpSince(std::string_view op);

// The minor version that brought an attribute, which may be later than its op; 0 as above.
int TensorFlowAttrSince(std::string_view op, std::string_view attr);

}  // namespace tenon
