// Reads features of tf.Examples into dense, sparse and ragged tensors.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/tensor/dtype.h"
#include "graph/tensor/shape.h"
#include "plugin/cpu/preprocess/example_reader.h"
#include "plugin/kernels/run_fn.h"

namespace tenon {
class Prepare;  // plugin/kernels/kernel.h
}

namespace tenon::cpu {

// The source of a feature's name: element `at` of input number `input`, or `text` if `input` is
// negative.
struct FeatureKey {
  int input = -1;
  int64_t at = 0;
  std::string text = {};

  // The view lives as long as this object and the run's inputs.
  std::string_view Name(const StepArgs& args) const;
};

// Returns one key for each element of input `input`. INVALID_ARGUMENT unless the input is a vector.
absl::StatusOr<std::vector<FeatureKey>> KeysOfVector(const Prepare& p, int input);
// Returns one key for each of the inputs [begin, end). INVALID_ARGUMENT unless they are scalars.
absl::StatusOr<std::vector<FeatureKey>> KeysOfScalars(const Prepare& p, int begin, int end);
// Returns one key for each string of attribute `attr`. INVALID_ARGUMENT if the attribute is no list
// of strings.
absl::StatusOr<std::vector<FeatureKey>> KeysOfAttr(const Prepare& p, std::string_view attr);

// The keys of all features that a node asks for.
struct FeatureKeys {
  std::vector<FeatureKey> sparse, dense, ragged;

  // Returns the number of outputs of these features. Their order: the indices of all sparse
  // features, the values of all sparse features, the shapes of all sparse features, the dense
  // features, the values of all ragged features, the row splits of all ragged features.
  int num_outputs() const {
    return static_cast<int>(3 * sparse.size() + dense.size() + 2 * ragged.size());
  }
};

// Reads the features of the tf.Example messages in input 0, a scalar or a vector of strings, into
// the first outputs, in the order of FeatureKeys. Immutable once made; several runs share it.
class FeatureParser {
 public:
  // `first_default` is the input number of the first dense feature's default; the others follow. A
  // default without elements means that the feature has none. Attribute `shapes_attr` lists the
  // dense features' shapes, whose first dimension may be open (unknown). Then all examples get the
  // length of the longest; the default of one element fills them up, or 0 (an empty string) if
  // there is no default. Otherwise the default has the feature's shape.
  // The caller makes the outputs dynamic (Prepare::set_dynamic_output).
  // INVALID_ARGUMENT if the node has too few outputs or defaults for the keys, or not one shape for
  // each dense key; for a default of another shape, a shape of unknown rank or with another open
  // dimension; and unless input 0 is a scalar or a vector. Does not refuse more outputs or inputs.
  static absl::StatusOr<FeatureParser> Make(const Prepare& p, FeatureKeys keys, int first_default,
                                            std::string_view shapes_attr);
  // Reads all messages and sets the outputs. If a message has a feature twice, its last entry
  // counts. A missing feature, or one without a list, has no values if it is sparse or ragged, and
  // its default if it is dense. For a scalar input 0, outputs have no dimension of examples, and
  // row splits are empty. After an error some outputs may be set.
  //   INVALID_ARGUMENT, naming feature and example: a malformed list, a value of another type, a
  //   dense feature of a wrong size, or a missing one that has no default and is not open.
  //   INVALID_ARGUMENT, naming the example alone: a malformed message.
  //   INVALID_ARGUMENT, naming the feature alone: two keys of one name.
  //   INVALID_ARGUMENT, naming neither: row splits that do not fit int32, a shape of a dense output
  //   that Shape::Make refuses.
  //   RESOURCE_EXHAUSTED: a dense feature would take more than CheckStringBytes permits, or memory
  //   is short.
  absl::Status Run(const StepArgs& args) const;

  bool batch() const { return batch_; }           // input 0 is a vector
  int64_t examples() const { return examples_; }  // messages in input 0

 private:
  enum class Kind { kSparse, kDense, kRagged };
  // One feature of the node.
  struct Feature {
    Kind kind;
    DataType type;
    int number;  // among the features of its kind
    FeatureKey key;
    // Dense features: the shape of one example's values. If the first dimension is open, `shape`
    // lacks this dimension, and all examples get the length of the longest.
    Shape shape = {};
    bool open = false;
    int default_input = -1;
    int64_t default_size = 0;
    DataType split_type = DataType::kInt64;  // ragged features

    // Elements of one example or, if the first dimension is open, of one place of this dimension.
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

// Sets output `output` to the row splits, given in ascending order, as type int32 or int64. The
// caller has made the output dynamic. INVALID_ARGUMENT if int32 cannot hold the last.
absl::Status StoreSplits(absl::Span<const int64_t> splits, DataType type, int output,
                         const StepArgs& args);
// Sets output `output`, which the caller has made dynamic, to a vector of all values.
absl::Status StoreFeatureValues(const FeatureValues& values, int output, const StepArgs& args);
// Returns an error with the feature's name and the example's number put before its message. OK
// stays OK.
absl::Status InFeature(const absl::Status& status, std::string_view name, int64_t example);

}  // namespace tenon::cpu
