// From tables of kernels to registrations with the host.
#pragma once

#include <cstdio>
#include <utility>
#include <vector>

#include "call.h"
#include "types.h"

namespace opencl {

// What every row of a table of kernels begins with.
struct OpRow {
  const char* op;
  TypeSet types;               // one registration for each; 0: one without a constraint
  const char* attr = "T";      // the attribute that names the type
  const char* host_args = "";  // arguments in host memory, separated by blanks
};

// A row that says no more.
struct PlainRow {
  OpRow row;
};

// A row of an op of which some types lie in host memory.
struct PlacedRow {
  OpRow row;
  bool on_host = false;
};

struct KernelFns {
  void* (*create)(TF_OpKernelConstruction*);
  void (*compute)(void*, TF_OpKernelContext*);
  void (*destroy)(void*);
};

// Registers an op's kernel for each of the row's types. `also` constrains the attribute
// `also_attr`, unless that is null. What the host refuses goes to stderr.
void RegisterOp(const OpRow& row, const KernelFns& functions, const char* also_attr = nullptr,
                TF_DataType also = TF_FLOAT);

// The three functions that the host calls for a kernel of class Op, made from row i of a table.
template <class Op, const auto& kRows, size_t i>
struct Glue {
  static void* Create(TF_OpKernelConstruction* context) {
    const StatusPtr status(TF_NewStatus());
    Op* made = nullptr;
    Guard(status.get(), [&] { made = new Op(Construction(context), kRows[i]); });
    if (TF_GetCode(status.get()) != TF_OK) TF_OpKernelConstruction_Failure(context, status.get());
    return made;
  }
  static void Compute(void* self, TF_OpKernelContext* context) {
    const StatusPtr status(TF_NewStatus());
    Guard(status.get(), [&] {
      Call call(context);
      static_cast<Op*>(self)->Compute(call);
    });
    if (TF_GetCode(status.get()) != TF_OK) TF_OpKernelContext_Failure(context, status.get());
  }
  static void Destroy(void* self) { delete static_cast<Op*>(self); }
};

// Registers a table: an array of rows that begin with an OpRow `row`, and whose kernels are
// Op(Construction, Row).
template <class Op, const auto& kRows>
void RegisterTable() {
  [&]<size_t... i>(std::index_sequence<i...>) {
    (RegisterOp(kRows[i].row, {Glue<Op, kRows, i>::Create, Glue<Op, kRows, i>::Compute,
                               Glue<Op, kRows, i>::Destroy}),
     ...);
  }
  (std::make_index_sequence<std::size(kRows)>());
}

}  // namespace opencl
