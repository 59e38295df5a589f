// Where registrations made through the C interface go. While a library is being loaded they belong
// to that load, on its thread (also when they come from a library that it depends on), and are
// published at once at its end; else they are published directly.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "graph/op_defs/op_def.h"
#include "plugin/kernels/kernel_registry.h"

namespace tenon {

// Kernels and ops that are not published.
struct Registrations {
  std::vector<std::shared_ptr<KernelDef>> kernels;
  std::vector<OpDef> ops;
  std::vector<std::string> refused;  // what else was to be registered, and why it was not
};
Registrations CopyOf(const Registrations& registrations);

// How a plug-in's registrations are to appear.
struct PublishOptions {
  std::string device_type;  // of the devices that the plug-in brings; empty: none
  std::string serve_as;     // another name for that type; empty: its own
  int priority = 0;         // among plug-ins
};

// A load (or, for what destructors do, the end) of a plug-in on this thread. They nest: a plug-in
// may load another library.
class LoadScope {
 public:
  explicit LoadScope(std::string plugin);
  ~LoadScope();  // drops what was not published
  LoadScope(const LoadScope&) = delete;
  LoadScope& operator=(const LoadScope&) = delete;

  // The innermost one of this thread, or null; and whether there is one of this plug-in.
  static LoadScope* Current();
  static bool IsOf(const std::string& plugin);

  const std::string& plugin() const { return plugin_; }
  // What was registered so far, and a way for it into another load.
  const Registrations& staged() const { return staged_; }
  void Add(Registrations registrations);

  // Puts ops, then kernels into the registries. If an op is refused, everything is taken out again
  // and the error returned.
  absl::Status Publish(const PublishOptions& options);

  // What was registered in this load, published or not.
  const std::vector<std::string>& op_names() const { return op_names_; }
  int num_kernels() const { return num_kernels_; }

 private:
  friend void RegisterKernel(std::shared_ptr<KernelDef> kernel);
  friend absl::Status RegisterOp(OpDef op);
  friend void NoteRefused(std::string_view what, const absl::Status& why);

  std::string plugin_;
  Registrations staged_;
  std::vector<std::string> op_names_;
  int num_kernels_ = 0;
  LoadScope* outer_;
};

// Registers a kernel, an op: with the load in progress on this thread or in the registries.
// ALREADY_EXISTS "Op with name X".
void RegisterKernel(std::shared_ptr<KernelDef> kernel);
absl::Status RegisterOp(OpDef op);
// Tells the load in progress on this thread of a registration that failed: few plug-ins look at the
// status that they get.
void NoteRefused(std::string_view what, const absl::Status& why);

}  // namespace tenon
