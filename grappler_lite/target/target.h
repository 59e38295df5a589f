// Who runs what the passes make: Tenon itself, or TensorFlow too, of which versions have different
// ops and kernels.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/op_defs/attr_set.h"

namespace tenon {

class Target {
 public:
  constexpr Target() = default;  // Tenon
  // TensorFlow 2.`minor` and every later 2.x. With `onednn` only where oneDNN is switched on.
  static constexpr Target TensorFlow(int minor = 0, bool onednn = false) {
    return Target(minor, onednn);
  }
  // "tenon", "tensorflow", "tensorflow@2.12", "tensorflow+onednn" (of the newest version that is
  // known), "tensorflow@2.12+onednn". INVALID_ARGUMENT names the closest, and lists all.
  static absl::StatusOr<Target> Parse(std::string_view name);
  // As Parse takes it.
  std::string name() const;

  constexpr bool is_tensorflow() const { return minor_ >= 0; }
  constexpr bool has_onednn() const { return onednn_; }
  // The oldest version of TensorFlow: 12 of 2.12.
  constexpr int minor() const { return minor_; }
  friend constexpr bool operator==(const Target&, const Target&) = default;

  // Whether the target has the op, and, if the op is one that only optimizers write, a kernel for
  // these attributes on the CPU. `grouped`: it convolves groups of channels, or may. Always true of
  // Tenon, whose kernels PassContext::HasKernel knows.
  bool Has(std::string_view op, const AttrSet& attrs, bool grouped = false) const;

 private:
  constexpr Target(int minor, bool onednn) : minor_(minor), onednn_(onednn) {}

  int minor_ = -1;
  bool onednn_ = false;
};

}  // namespace tenon
