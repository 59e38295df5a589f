// The size of an element in bytes, as the C interface counts it: 0 for elements that own memory,
// for references and for unknown types.
#include "tensorflow/c/tf_datatype.h"

#include "graph/c_api/c_api_internal.h"

extern "C" size_t TF_DataTypeSize(TF_DataType dt) {
  const tenon::DataType type = tenon::DataTypeFromC(dt);
  if (!tenon::IsKnownDataType(dt) || tenon::IsRef(type) || !tenon::IsMemcpyable(type)) return 0;
  return tenon::DataTypeSize(type);
}
