// Tables of the TensorFlow 2.x versions that brought ops and attributes of ops. tests/oracle
// compares the tables with an installed TensorFlow.
#pragma once

#include <string_view>

namespace tenon {

inline constexpr int kNewestTensorFlow = 21;  // the last minor version that is known

// The minor version that brought an op. 0: version 2.0 has the op, or the op is not TensorFlow's.
int TensorFlowOpSince(std::string_view op);

// The minor version that brought an attribute, if it is later than the version that brought the op.
// 0: the attribute is as old as the op, or op or attribute is not TensorFlow's.
int TensorFlowAttrSince(std::string_view op, std::string_view attr);

}  // namespace tenon
