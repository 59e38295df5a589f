#include "registry.h"

#include <string>

namespace opencl {
namespace {

// TF_InitKernel has no status to return: stderr is all there is.
void Complain(const char* op, const StatusPtr& status) {
  if (TF_GetCode(status.get()) != TF_OK)
    std::fprintf(stderr, "OpenCL: %s: %s\n", op, TF_Message(status.get()));
}

void RegisterOne(const OpRow& row, const KernelFns& functions, const ElementType* type,
                 const char* also_attr, TF_DataType also) {
  const StatusPtr status(TF_NewStatus());
  TF_KernelBuilder* builder =
      TF_NewKernelBuilder(row.op, "OPENCL", functions.create, functions.compute, functions.destroy);
  if (type != nullptr) TF_KernelBuilder_TypeConstraint(builder, row.attr, type->type, status.get());
  if (also_attr != nullptr && TF_GetCode(status.get()) == TF_OK)
    TF_KernelBuilder_TypeConstraint(builder, also_attr, also, status.get());
  const std::string names = row.host_args;
  for (size_t begin = 0; begin < names.size();) {
    size_t end = names.find(' ', begin);
    if (end == names.npos) end = names.size();
    TF_KernelBuilder_HostMemory(builder, names.substr(begin, end - begin).c_str());
    begin = end + 1;
  }
  if (TF_GetCode(status.get()) == TF_OK) {
    TF_RegisterKernelBuilder(row.op, builder, status.get());
  } else {
    TF_DeleteKernelBuilder(builder);
  }
  Complain(row.op, status);
}

}  // namespace

void RegisterOp(const OpRow& row, const KernelFns& functions, const char* also_attr,
                TF_DataType also) {
  if (row.types == 0) return RegisterOne(row, functions, nullptr, also_attr, also);
  for (const ElementType* type = AllTypes(); type->bytes != 0; ++type) {
    if ((row.types & type->bit) != 0) RegisterOne(row, functions, type, also_attr, also);
  }
}

}  // namespace opencl
