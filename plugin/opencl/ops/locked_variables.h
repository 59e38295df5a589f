// The variables behind a kernel's inputs, locked while the kernel changes or reads them.
#pragma once

#include <memory>
#include <vector>

#include "../base/call.h"
#include "tensorflow/c/kernels_experimental.h"

namespace opencl {

// Whether the host has the functions that this needs. TensorFlow has them up to version 2.18. In a
// later one the plug-in loads without them, and variables stay on the host.
bool HasVariables();

// The variables behind the first `count` inputs. Only if HasVariables(). The constructor throws the
// host's error, such as NOT_FOUND for a variable without a value.
class LockedVariables {
 public:
  LockedVariables(Call& call, int count, bool locks);

  // Tensors that nobody else shares: the kernel may change them where they are.
  const std::vector<Tensor>& tensors() const { return tensors_; }

 private:
  struct Release {
    void operator()(TF_VariableInputLockHolder* holder) const;
  };
  std::unique_ptr<TF_VariableInputLockHolder, Release> locked_;
  std::vector<TensorPtr> handles_;
  std::vector<Tensor> tensors_;
};

}  // namespace opencl
