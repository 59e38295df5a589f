// Tables of the TensorFlow 2.x versions that brought ops and attributes of ops. tests/oracle
// compares the tables with an installed TensorFlow.
#pragma once

#include <string_view>

namespace tenon {

inline constexpr int kNewestTensorFlow = 21;  // the last minor version that is known

// The minor version that brought an op. 0: version 2.0 has the op, or the op is not TensorFlow's.
int TensorFlowOpSince(std::string_view op);

// The minor version that brought an attribute; it may be later than the version that brought the
// op. 0: the attribute is as old as 2.0, or is not in the table.
int TensorFlowAttrSince(std::string_view op, std::string_view attr);

}  // namespace tenon
