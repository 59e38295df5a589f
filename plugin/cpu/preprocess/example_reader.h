// Reads tf.Example messages: named lists of bytes, floats or integers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "graph/tensor/dtype.h"

namespace tenon::cpu {

// One feature. `type` is kString, kFloat or kInt64, or kInvalid for a feature without a list.
// `wire` holds the bytes of the list; the caller owns them. If a feature holds several lists, the
// last counts.
struct FeatureList {
  DataType type = DataType::kInvalid;
  std::string_view wire;
};

// Calls visit(name, list) for each feature, in the message's order. A name may occur several times:
// the last occurrence counts. The views point into `example`. INVALID_ARGUMENT if the bytes are not
// a tf.Example; visits may have happened before.
absl::Status ReadExample(std::string_view example,
                         absl::FunctionRef<void(std::string_view name, FeatureList list)> visit);

// The same for the feature lists of a tf.SequenceExample. Pass each list to ReadSteps. ReadExample
// reads the message's context.
absl::Status ReadFeatureLists(
    std::string_view example,
    absl::FunctionRef<void(std::string_view name, std::string_view wire)> visit);
// Calls visit(list) for each step. Stops at the first error and returns it.
absl::Status ReadSteps(std::string_view wire,
                       absl::FunctionRef<absl::Status(FeatureList list)> visit);

// The values of many lists of one type, one after the other. Strings are views: the lists' bytes
// must outlive the object.
class FeatureValues {
 public:
  explicit FeatureValues(DataType type) : type_(type) {}

  // Appends the values of `list`, packed or not. INVALID_ARGUMENT for a malformed list, or one of
  // another type.
  absl::Status Append(const FeatureList& list);
  int64_t size() const;
  // Stores value `from` as element `to` of `out`, of the same type. Elements of strings must be
  // initialized.
  void Store(int64_t from, void* out, int64_t to) const;

 private:
  DataType type_;
  std::vector<int64_t> ints_;
  std::vector<float> floats_;
  std::vector<std::string_view> strings_;
};

}  // namespace tenon::cpu
