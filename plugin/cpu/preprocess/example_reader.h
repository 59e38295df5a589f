// Reads tf.Example messages: named lists of bytes, floats or integers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "graph/tensor/dtype.h"

namespace tenon::cpu {

// The list of one feature. `type` is kString, kFloat or kInt64, or kInvalid for a feature without a
// list. `wire` views the encoded list, in the memory of the message. If a feature holds several
// lists, this is the last.
struct FeatureList {
  DataType type = DataType::kInvalid;
  std::string_view wire;
};

// Calls visit(name, list) for each feature, in the message's order. A name may come several times:
// the visitor must let the last one count. The views point into `example`. Fields that tf.Example
// does not have are passed over. INVALID_ARGUMENT if the bytes are malformed; visits may have
// happened before. The contents of the lists are not checked. `example` may also be the bytes of a
// tf.SequenceExample: the features are then those of its context.
absl::Status ReadExample(std::string_view example,
                         absl::FunctionRef<void(std::string_view name, FeatureList list)> visit);

// Calls visit(name, wire) for each feature list of a tf.SequenceExample, as ReadExample does for
// features. `wire` is the encoded feature list, for ReadSteps, and is not checked; its data() is
// not null, even if it is empty.
absl::Status ReadFeatureLists(
    std::string_view example,
    absl::FunctionRef<void(std::string_view name, std::string_view wire)> visit);
// Calls visit(list) for each step of an encoded feature list, in order; `list` is the feature of
// the step. Stops at the first error of `visit` and returns it. INVALID_ARGUMENT if `wire` is
// malformed; visits may have happened before.
absl::Status ReadSteps(std::string_view wire,
                       absl::FunctionRef<absl::Status(FeatureList list)> visit);

// The values of many lists of one type (kString, kFloat or kInt64), one after the other. Strings
// are views: the lists' bytes must outlive the object.
class FeatureValues {
 public:
  explicit FeatureValues(DataType type) : type_(type) {}

  // Appends the values of `list`, packed or not. INVALID_ARGUMENT for a list of another type, or a
  // malformed list, of which some values may be appended.
  absl::Status Append(const FeatureList& list);
  int64_t size() const;  // values of all lists
  // Stores value `from`, counted over all lists, as element `to` of the tensor data at `out`, of
  // the object's type. Elements of strings must be initialized.
  void Store(int64_t from, void* out, int64_t to) const;

 private:
  DataType type_;
  std::vector<int64_t> ints_;
  std::vector<float> floats_;
  std::vector<std::string_view> strings_;
};

}  // namespace tenon::cpu
