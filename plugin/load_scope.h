// Where registrations made through the C interface go. While a library is being loaded they belong
// to that load, on its thread (also when they come from a library that it depends on), and are
// published at once at its end; else they are published directly.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "graph/op_def.h"
#include "plugin/kernel_registry.h"

namespace tenon {

// A load in progress on this thread. Loads nest: a plug-in may load another library.
class LoadScope {
 public:
  explicit LoadScope(std::string plugin);
  ~LoadScope();  // drops what was not published
  LoadScope(const LoadScope&) = delete;
  LoadScope& operator=(const LoadScope&) = delete;

  // The innermost load of this thread, or null.
  static LoadScope* Current();

  const std::string& plugin() const { return plugin_; }
  // Puts ops, then kernels into the registries. If an op is refused, everything is taken out again
  // and the error returned. `device_type` is that of the devices that the plug-in brings; empty:
  // none.
  absl::Status Publish(std::string_view device_type);

  // What was registered in this load, published or not.
  const std::vector<std::string>& op_names() const { return op_names_; }
  int num_kernels() const { return num_kernels_; }

 private:
  friend void RegisterKernel(std::shared_ptr<KernelDef> kernel);
  friend absl::Status RegisterOp(OpDef op);

  std::string plugin_;
  std::vector<std::shared_ptr<KernelDef>> kernels_;
  std::vector<OpDef> ops_;
  std::vector<std::string> op_names_;
  int num_kernels_ = 0;
  LoadScope* outer_;
};

// Registers a kernel, an op: with the load in progress on this thread or in the registries.
// ALREADY_EXISTS "Op with name X".
void RegisterKernel(std::shared_ptr<KernelDef> kernel);
absl::Status RegisterOp(OpDef op);

}  // namespace tenon
