// A node of some op for kernels under test, without a graph.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "graph/op_defs/op_registry.h"
#include "plugin/host/c_api/kernels/plugin_kernel.h"
#include "tensorflow/c/kernels.h"

namespace tenon::testing {

// Registers an op from specs, once per process. Types are the usual spec notation.
void RegisterTestOp(const std::string& name, const std::vector<std::string>& inputs,
                    const std::vector<std::string>& outputs, const std::vector<std::string>& attrs);

// Owns all that a KernelNode refers to.
class TestNode {
 public:
  TestNode(const std::string& op, std::map<std::string, std::string> attrs,
           const std::string& name = "n", std::vector<std::string> input_names = {});
  KernelNode Node() const;
  // The kernel that the registry finds for the node on this device type, created.
  absl::StatusOr<std::unique_ptr<PluginKernel>> CreateKernel(const std::string& device_type = "CPU",
                                                             Device* device = nullptr) const;

 private:
  struct State;
  State* state_;  // kept for the process: kernels refer to it
};

// Runs the kernel on these inputs; outputs sized by the node's types.
struct Computed {
  absl::Status status;
  std::vector<Tensor> outputs;
};
Computed RunKernel(PluginKernel& kernel, std::vector<Tensor> inputs, int num_outputs,
                   double timeout_s = 10);

// Registers a kernel of `op` for the device type with these functions and no constraint.
void RegisterTestKernel(const std::string& op, const std::string& device_type,
                        void* (*create)(TF_OpKernelConstruction*),
                        void (*compute)(void*, TF_OpKernelContext*),
                        void (*destroy)(void*) = nullptr);

// A TF_Status for one call, checked against code and message.
class S {
 public:
  ~S() { TF_DeleteStatus(s_); }
  operator TF_Status*() { return s_; }  // NOLINT: stands for the argument
  TF_Code code() const { return TF_GetCode(s_); }
  std::string message() const { return TF_Message(s_); }

 private:
  TF_Status* s_ = TF_NewStatus();
};

template <typename T>
Tensor Scalar(DataType dtype, T value) {
  return Tensor::CopyOf(dtype, Shape(), &value, sizeof(value));
}

}  // namespace tenon::testing
