// The runtime for the graphs that passes write: Tenon alone, or TensorFlow too. Versions of
// TensorFlow have different ops and kernels. A Target is a plain value; all functions are
// thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "graph/op_defs/attr_set.h"

namespace tenon {

class Target {
 public:
  constexpr Target() = default;  // Tenon
  // TensorFlow 2.`minor` and every later 2.x. `onednn`: TensorFlow runs with oneDNN switched on.
  static constexpr Target TensorFlow(int minor = 0, bool onednn = false) {
    return Target(minor, onednn);
  }
  // Parses "tenon", "tensorflow" (every 2.x), "tensorflow@2.12" (2.12 and later),
  // "tensorflow+onednn" (the newest known version and later) or "tensorflow@2.12+onednn".
  // INVALID_ARGUMENT names the closest target, if one is close, and lists all; for a version that
  // is too new it names the newest.
  static absl::StatusOr<Target> Parse(std::string_view name);
  // The shortest text from which Parse makes this target.
  std::string name() const;

  constexpr bool is_tensorflow() const { return minor_ >= 0; }
  constexpr bool has_onednn() const { return onednn_; }
  // The minor number of the oldest TensorFlow that must run the graph: 12 for 2.12. Negative for
  // Tenon alone.
  constexpr int minor() const { return minor_; }
  friend constexpr bool operator==(const Target&, const Target&) = default;

  // Whether the target has the op. For an op that is in the table of fused kernels (target.cc),
  // also whether the target has a CPU kernel for these attributes. False then without the attribute
  // T, whatever the op's default is. `grouped`: the op may be a convolution over groups of
  // channels. Always true for Tenon, since PassContext::HasKernel asks about Tenon's kernels. Also
  // true for ops that no TensorFlow has: a pass that makes ops of Tenon's own asks is_tensorflow
  // first.
  bool Has(std::string_view op, const AttrSet& attrs, bool grouped = false) const;

 private:
  constexpr Target(int minor, bool onednn) : minor_(minor), onednn_(onednn) {}

  int minor_ = -1;
  bool onednn_ = false;
};

}  // namespace tenon
