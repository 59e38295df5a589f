// TF_Shape: shapes that plug-ins see as opaque. A shape of unknown rank has -1 dimensions, as has a
// null one.
#include "tensorflow/c/tf_shape.h"

#include "graph/c_api/abi_watch.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"

using tenon::IsThere;

extern "C" {

TF_Shape* TF_NewShape(void) try { return tenon::NewForPlugin<TF_Shape>("TF_Shape"); } catch (...) {
  return tenon::WithoutMemory();
}
void TF_DeleteShape(TF_Shape* shape) { tenon::DeleteForPlugin("TF_Shape", shape); }
int TF_ShapeDims(const TF_Shape* shape) { return IsThere(shape) ? shape->shape.rank() : -1; }

int64_t TF_ShapeDimSize(const TF_Shape* shape, int d) {
  return d >= 0 && d < TF_ShapeDims(shape) ? shape->shape.dim(d) : tenon::kUnknownDim;
}

}  // extern "C"
