// An opaque, possibly unknown, shape. No function of the interface sets its rank or dimensions yet.
#ifndef TENSORFLOW_C_TF_SHAPE_H_
#define TENSORFLOW_C_TF_SHAPE_H_

#include <stdint.h>

#include "tensorflow/c/c_api_macros.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct TF_Shape TF_Shape;

// A new shape of unknown rank; NULL when there is no memory for it. Release with TF_DeleteShape.
TF_CAPI_EXPORT extern TF_Shape* TF_NewShape(void);

// The rank; -1 if it is unknown, or if `shape` is NULL or deleted.
TF_CAPI_EXPORT extern int TF_ShapeDims(const TF_Shape* shape);

// The size of dimension `d`, counted from 0; -1 if the size or the rank is unknown, if there is no
// such dimension, or if `shape` is NULL or deleted.
TF_CAPI_EXPORT extern int64_t TF_ShapeDimSize(const TF_Shape* shape, int d);

// Releases a shape. NULL is allowed.
TF_CAPI_EXPORT extern void TF_DeleteShape(TF_Shape* shape);

#ifdef __cplusplus
}
#endif

#endif  // TENSORFLOW_C_TF_SHAPE_H_
