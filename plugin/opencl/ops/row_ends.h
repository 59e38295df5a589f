// Kernels of whole rows that may follow a map (base/map.h) at once: what stands at the end of
// _OpenCLFused.
#pragma once

#include <string>
#include <string_view>

#include "../base/map.h"

namespace opencl {

// Where the rows come from: a tensor, or a map.
struct Rows {
  Tensor tensor;
  const MapRows* map = nullptr;  // if not NULL, `tensor` has type and shape alone

  // What a kernel of rows (common.cl, OPEN_ROWS) gets from them.
  void AddTo(KernelKey* key) const {
    key->Number(map != nullptr);
    if (map != nullptr) map->AddTo(key);
  }
  std::string Prologue() const { return map == nullptr ? "" : map->Prologue(); }
  void AddInputs(Launch* launch) const {  // ROW_INPUTS
    if (map == nullptr) {
      launch->Memory(tensor);
    } else {
      map->AddInputs(launch);
    }
  }
  void AddLoop(Launch* launch) const {  // ROW_LOOP
    if (map != nullptr) map->AddLoop(launch);
  }
};

// Softmax over the last dimension, or its logarithm. `out` may be the memory of rows.tensor.
void RunSoftmax(Call& call, const Rows& rows, bool log, const Tensor& out);

// (x - mean) / sqrt(variance + epsilon) * scale + offset over the last dimension, float32. Throws
// INVALID_ARGUMENT, with the name `op`, for scale and offset of another size than a row's. `out`
// may be the memory of rows.tensor.
void RunLayerNorm(Call& call, const char* op, const Rows& rows, const Tensor& scale,
                  const Tensor& offset, float epsilon, const Tensor& out);

// A row of the table of reductions.
struct ReduceRow;
// NULL if `op` is no reduction or has no kernel for the type.
const ReduceRow* FindReduction(std::string_view op, TF_DataType type);
// out[i] = the reduction of row i, whose length is that of the map's rows, or of
// rows.tensor.count / out.count elements.
void RunReduction(Call& call, const ReduceRow& reduction, const Rows& rows, const Tensor& out);

}  // namespace opencl
