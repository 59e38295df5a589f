// Reads features of tf.Examples into dense, sparse and ragged tensors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "plugin/cpu/preprocess/example_reader.h"
#include "plugin/kernels/kernel.h"

namespace tenon::cpu {

// The source of a feature's name: element `at` of input `input`, or `text` if `input` is negative.
struct FeatureKey {
  int input = -1;
  int64_t at = 0;
  std::string text = {};

  std::string_view Name(const StepArgs& args) const;
};

// Returns the keys in a vector's elements. INVALID_ARGUMENT if the input is no vector.
absl::StatusOr<std::vector<FeatureKey>> KeysOfVector(const Prepare& p, int input);
// Returns the keys in the scalar inputs [begin, end).
absl::StatusOr<std::vector<FeatureKey>> KeysOfScalars(const Prepare& p, int begin, int end);
// Returns the keys in attribute `attr`, a list of strings.
absl::StatusOr<std::vector<FeatureKey>> KeysOfAttr(const Prepare& p, std::string_view attr);

struct FeatureKeys {
  std::vector<FeatureKey> sparse, dense, ragged;

  // Outputs that they have: indices, values and shapes of all sparse features, then the dense ones,
  // then values and row splits of the ragged ones.
  int num_outputs() const {
    return static_cast<int>(3 * sparse.size() + dense.size() + 2 * ragged.size());
  }
};

// Reads the features of the messages in input 0, a scalar or a vector, into the first outputs.
class FeatureParser {
 public:
  // Dense features have defaults from input `first_default` on, and shapes in a list of shapes.
  static absl::StatusOr<FeatureParser> Make(const Prepare& p, FeatureKeys keys, int first_default,
                                            std::string_view shapes_attr);
  absl::Status Run(const StepArgs& args) const;

  bool batch() const { return batch_; }  // many messages, rather than one
  int64_t examples() const { return examples_; }

 private:
  enum class Kind { kSparse, kDense, kRagged };
  // One feature that is asked for.
  struct Feature {
    Kind kind;
    DataType type;
    int number;  // among those of its kind
    FeatureKey key;
    // Dense ones: the shape of one example's values; the first dimension is as long as the longest
    // if it is open.
    Shape shape = {};
    bool open = false;
    int default_input = -1;
    int64_t default_size = 0;
    DataType split_type = DataType::kInt64;  // ragged ones

    // Elements of one example, or of one place of an open dimension.
    int64_t Block() const { return shape.num_elements(); }
  };
  struct Column;

  void AddFeatures(const Prepare& p, Kind kind, std::vector<FeatureKey> keys, int types_from);
  absl::StatusOr<std::vector<Column>> ReadColumns(const StepArgs& args) const;
  absl::Status StoreSparse(const Feature& f, const Column& column, const StepArgs& args) const;
  absl::Status StoreDense(const Feature& f, const Column& column, const StepArgs& args) const;
  absl::Status StoreRagged(const Feature& f, const Column& column, const StepArgs& args) const;
  static absl::Status CheckDense(const Feature& f, const Column& column, int64_t example);
  static absl::Status SetDense(const Prepare& p, const PartialShape& shape, int input, Feature* f);

  std::vector<Feature> features_;
  int counts_[3] = {};  // of each kind
  bool batch_ = false;
  int64_t examples_ = 0;
};

// Row splits of either type; INVALID_ARGUMENT where they do not fit.
absl::Status StoreSplits(absl::Span<const int64_t> splits, DataType type, int output,
                         const StepArgs& args);
// Sets output `output` to these values.
absl::Status StoreFeatureValues(const FeatureValues& values, int output, const StepArgs& args);
// Returns the same status with the names of the feature and the example in its message.
absl::Status InFeature(const absl::Status& status, std::string_view name, int64_t example);

}  // namespace tenon::cpu
